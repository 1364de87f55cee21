"""pandas and polars."""

from tests.accuracy.ordinary.library import Library

_PANDAS_SETUP = """
import numpy as np, pandas as pd
_pd_rng = np.random.default_rng(2)
pd_df = pd.DataFrame({
    "a": _pd_rng.integers(0, 20, 5000),
    "b": _pd_rng.random(5000),
    "c": _pd_rng.choice(["x", "y", "z"], 5000),
    "t": pd.date_range("2024-01-01", periods=5000, freq="h"),
})
pd_other = pd.DataFrame({"a": range(20), "name": [f"n{i}" for i in range(20)]})
pd_s = pd_df["b"]
pd_words = pd.Series(["alpha beta", "gamma delta", "epsilon"] * 500)
pd_ts = pd_df.set_index("t")
pd_wide = pd.DataFrame(_pd_rng.random((200, 10)))
"""

_PANDAS = """
pd_df.groupby("a").b.mean()
pd_df.groupby(["a", "c"]).agg({"b": ["mean", "max"]})
pd_df.sort_values("b")
pd_df[pd_df.b > 0.5]
pd_df.query("b > 0.5 and a < 10")
pd_df.merge(pd_other, on="a")
pd_df.describe()
pd_df.head()
pd_df["b"] * 2
pd_df.b.mean()
pd_df.c.value_counts()
pd_df.pivot_table(index="a", columns="c", values="b")
pd_df.assign(d=pd_df.b * 2)
pd_df.drop_duplicates("a")
pd_df.isna().sum()
pd_df.fillna(0)
pd_df.a.astype("float32")
pd_df.loc[100:200, "b"]
pd_df.iloc[5]
pd_df.at[5, "b"]
pd_df.copy()
pd_df.set_index("a")
pd_df.rename(columns={"a": "A"})
pd_df.apply(lambda col: col.nunique())
pd_df.to_numpy()
pd_df.select_dtypes("number").corr()
pd_df.nlargest(5, "b")
pd_df.sample(100, random_state=0)
pd_df.melt(id_vars="a", value_vars=["b"])
pd_s.rolling(24).mean()
pd_s.cumsum()
pd_s.rank()
pd_s.quantile(0.9)
pd_s.map(lambda v: v + 1)
pd_s.to_list()
pd_words.str.upper()
pd_words.str.split()
pd_words.str.contains("beta")
pd_ts.b.resample("D").mean()
pd_df.t.dt.hour
pd_df.groupby("c").b.transform("mean")
pd_df.groupby("a").size()
pd_wide.mean(axis=1)
pd_wide.T
pd_wide @ pd_wide.T
pd.concat([pd_df, pd_df])
pd.get_dummies(pd_df.c)
pd.cut(pd_s, 5)
pd.to_datetime(["2024-01-01", "2024-06-01"])
pd.crosstab(pd_df.a, pd_df.c)
pd_x = pd_df.b.clip(0.2, 0.8)
"""

_POLARS_SETUP = """
import numpy as np, polars as pl
_pl_rng = np.random.default_rng(3)
pl_df = pl.DataFrame({
    "a": _pl_rng.integers(0, 20, 5000),
    "b": _pl_rng.random(5000),
    "c": _pl_rng.choice(["x", "y", "z"], 5000),
})
pl_other = pl.DataFrame({"a": np.arange(20), "name": [f"n{i}" for i in range(20)]})
pl_s = pl_df["b"]
"""

_POLARS = """
pl_df.group_by("a").agg(pl.col("b").mean())
pl_df.group_by("a", "c").agg(pl.len(), pl.col("b").max())
pl_df.sort("b")
pl_df.filter(pl.col("b") > 0.5)
pl_df.select("a", "b")
pl_df.select(pl.col("b").mean().over("a"))
pl_df.with_columns(d=pl.col("b") * 2)
pl_df.join(pl_other, on="a")
pl_df.head()
pl_df.describe()
pl_df.unique("a")
pl_df.drop("c")
pl_df.rename({"a": "A"})
pl_df.to_numpy()
pl_df.to_dicts()
pl_df["b"].mean()
pl_df.pivot(on="c", index="a", values="b", aggregate_function="mean")
pl_df.null_count()
pl_df.slice(10, 100)
pl_df.with_row_index()
pl_df.lazy().filter(pl.col("b") > 0.5).collect()
pl_df.lazy().group_by("c").agg(pl.col("b").sum()).collect()
pl_s.sum()
pl_s.sort()
pl_s * 2
pl_s.rolling_mean(24)
pl_s.to_list()
pl_df["c"].value_counts()
pl_df["c"].str.to_uppercase()
pl.concat([pl_df, pl_df])
"""

TABLES = (
    Library("pandas", _PANDAS_SETUP, _PANDAS),
    Library("polars", _POLARS_SETUP, _POLARS),
)
