"""What timed code changes in files of h5py is as after one run of it, or told by name."""

from pathlib import Path

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

FILE = (
    "import h5py, numpy as np; f = h5py.File('fw', 'w', driver='core', backing_store=False);"
    " f['d'] = np.zeros(3); d = f['d']; h = [0]"
)
READ = (
    "import h5py; f = h5py.File(p, 'w'); f['d'] = [1, 2]; f.close(); f = h5py.File(p); d = f['d']"
)
CLOSE = "f.close(); del d"


def changed(body: str, left: str, *, told: str = "", setup: str = FILE) -> Cell:
    """What a function changes."""
    return Cell(f"{setup}\ndef go(): h[0] += 1; {body}", "go()", left, CLOSE, told)


CELLS = {
    "attributes of the user's class": Cell(
        "import h5py, io\nclass F(h5py.File):\n    n = 0\n"
        "    def go(self): self.n += 1; self._l.append(1); self.attrs['k'] = self.n\n"
        "f = F(io.BytesIO(), 'w'); f._l = []", "f.go()", "f.n, f._l, int(f.attrs['k'])",
        "f.close()"),
    "numbers": changed("f['d'][0] += 1", "d[:].tolist()"),
    "numbers of a dataset": changed("d[1:] += 1", "d[:].tolist()"),
    "one number": changed("d[()] += 1", "d[()]", setup=f"{FILE}; f['n'] = 3; d = f['n']"),
    "texts": changed("d[0] = d[0] + b'x'", "d[:].tolist()",
                     setup=f"{FILE}; f['t'] = ['a', 'b']; d = f['t']"),
    "more numbers": changed(
        "d.resize((d.shape[0] + 1,)); d[-1] = 7", "d[:].tolist()",
        setup=f"{FILE}; d = f.create_dataset('r', shape=(1,), maxshape=(None,))"),
    "attributes": changed("f.attrs['n'] += 1; f.attrs[f'k{h[0]}'] = 'x'",
                          "str(dict(f.attrs))", setup=f"{FILE}; f.attrs['n'] = [0, 1]"),
    "attributes of a dataset": changed("d.attrs['n'] += 1", "d.attrs['n']",
                                       setup=f"{FILE}; d.attrs['n'] = 0"),
    "new ones": changed("f.create_dataset(f'k{h[0]}', data=np.ones(2))", "[*f]"),
    "in a group": changed("f['a/b/n'][()] += 1", "f['a/b/n'][()]",
                          setup=f"{FILE}; f.create_group('a/b')['n'] = 0"),
    "what goes": changed("del f[f'k{h[0]}']", "0", told="f",
                         setup=f"{FILE}; f.update({{'k%d' % i: i for i in range(9)}})"),
    "what is read": Cell(FILE, "d[:].sum()", "d[:].tolist()", CLOSE),
    "a file that is read": Cell(READ, "f['d'][:].sum()", "d[:].tolist()", CLOSE),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str, tmp_path: Path) -> None:
    shell.names["p"] = str(tmp_path / "fw.h5")
    check_left(shell, CELLS[name])
