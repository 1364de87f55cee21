"""What timed code changes of pandas is as after one run."""

import pytest

import ipyjaxbench

pd = pytest.importorskip("pandas")


class Own(pd.DataFrame):  # type: ignore[misc]
    """A table of the user's, with attributes of its own."""

    _metadata = ("n", "_l")
    n = 0


@pytest.mark.parametrize(("code", "left"), [
    ("df.columns.name = (df.columns.name or '') + 'c'", "df.columns.name"),
    ("df.index.name = (df.index.name or '') + 'i'", "df.index.name"),
    ("deep.index.names = [name + 'x' for name in deep.index.names]", "deep.index.names"),
    ("own.n += 1; own._l.append(1); own['a'] += 1", "own.n, own._l, own['a'].tolist()"),
    ("words.iloc[0] += 'y'", "words.tolist()"),
    ("days.iloc[0] += pd.Timedelta('1D')", "days.tolist()"),
    ("kinds.iloc[0] = 'a' if kinds.iloc[0] == 'b' else 'b'", "kinds.tolist()"),
    ("whole.iloc[0] += 1", "whole.tolist()"),
    ("mixed.insert(0, f'n{len(mixed.columns)}', 0)", "mixed.to_dict('list')"),
    ("mixed.pop('a') if 'a' in mixed else mixed.insert(0, 'a', 1)",
     "mixed.to_dict('list'), mixed._mgr.blknos.tolist(), mixed._mgr.blklocs.tolist()"),
])  # fmt: skip
def test_it_is_put_back_and_told(code: str, left: str) -> None:
    def made() -> dict[str, object]:
        rows = pd.MultiIndex.from_tuples([(1, 2)], names=["a", "b"])
        return {
            "pd": pd, "df": pd.DataFrame({"a": [1.0, 2.0]}), "deep": pd.Series([1], index=rows),
            "words": pd.Series(["x"], dtype="string"), "whole": pd.Series([1], dtype="Int64"),
            "own": Own({"a": [1.0]}), "days": pd.Series(pd.date_range("2020", periods=2)),
            "mixed": pd.DataFrame({"a": [3, 1], "b": ["x", "y"], "c": [0.5, 1.5]}),
            "kinds": pd.Series(["a", "b"], dtype="category"),
        }  # fmt: skip

    once, timed = made(), made()
    once["own"]._l, timed["own"]._l = [], []
    exec(code, once)
    found = ipyjaxbench.measure_code(code, timed, number=2, repeat=3)
    assert eval(left, timed) == eval(left, once)
    assert {note.code for note in found.notes} & {"put-back", "state-advanced"} == {"put-back"}
