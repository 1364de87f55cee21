"""NumPy, SciPy's users xarray and scikit-learn."""

from tests.accuracy.ordinary.library import Library

_NUMPY_SETUP = """
import numpy as np
np_rng = np.random.default_rng(0)
np_a = np_rng.random((200, 300))
np_b = np_rng.random((300, 100))
np_v = np_rng.random(10_000)
np_w = np_rng.random(10_000)
np_i = np_rng.integers(0, 100, 10_000)
np_sq = np_rng.random((60, 60)) + 60 * np.eye(60)
np_spd = np_sq @ np_sq.T
np_big = np_rng.random(1_000_000)
np_f32 = np_v.astype(np.float32)
np_c = np_v + 1j * np_w
np_s = np.array(["alpha", "beta", "gamma"] * 200)
np_mask = np_v > 0.5
def np_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
def np_distances(x, y):
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
"""

_NUMPY = """
np_a @ np_b
np_a.T.copy()
np_v + np_w
np_v.sum()
np_a.mean(axis=0)
np_v.std()
np.sqrt(np_v)
np.exp(np_v) * np.sin(np_w)
np.sort(np_v)
np.argsort(np_v)
np.argmax(np_v)
np.unique(np_i)
np.bincount(np_i)
np.histogram(np_v, bins=50)
np.linalg.norm(np_v)
np.linalg.solve(np_sq, np_sq[0])
np.linalg.inv(np_sq)
np.linalg.eigvalsh(np_spd)
np.linalg.svd(np_sq)
np.linalg.cholesky(np_spd)
np.fft.fft(np_v)
np.fft.rfft(np_v[:4096])
np.cumsum(np_v)
np.where(np_mask, np_v, np_w)
np_v[np_mask]
np_v[np_i]
np.concatenate([np_v, np_w])
np.stack([np_v, np_w])
np.einsum("ij,jk->k", np_a, np_b)
np.outer(np_v[:200], np_w[:200])
np.dot(np_v, np_w)
np.clip(np_v, 0.2, 0.8)
np.percentile(np_v, [5, 50, 95])
np.median(np_v)
np.interp(np_v, [0, 0.5, 1], [0, 1, 0])
np.polyfit(np_v[:500], np_w[:500], 2)
np.linspace(0, 1, 1000)
np.arange(10_000) ** 2
np.zeros((500, 500))
np.random.default_rng(1).normal(size=10_000)
np_big.sum()
np_big * 2 + 1
np_f32 * np.float32(2)
np.abs(np_c)
np_softmax(np_a)
np_distances(np_a[:50, :3], np_a[50:, :3])
np_m = np_a - np_a.mean(axis=0)
np.isin(np_i, [3, 5, 7])
np.char.upper(np_s)
np.allclose(np_v, np_w)
np_a.reshape(300, 200)
np.tile(np_v, 3)
np.roll(np_v, 5)
"""

_XARRAY_SETUP = """
import numpy as np, pandas as pd, xarray as xr
_xr_rng = np.random.default_rng(1)
xr_da = xr.DataArray(
    _xr_rng.random((100, 20, 30)),
    dims=("time", "lat", "lon"),
    coords={"time": pd.date_range("2020-01-01", periods=100), "lat": np.arange(20.0),
            "lon": np.arange(30.0)},
    name="t",
)
xr_ds = xr.Dataset({"t": xr_da, "p": xr_da * 2})
xr_w = xr.DataArray(np.cos(np.deg2rad(xr_da.lat)), dims="lat", coords={"lat": xr_da.lat})
"""

_XARRAY = """
xr_da.mean("time")
xr_da.sum(("lat", "lon"))
xr_da.std("time")
xr_da.max()
xr_da + 1
xr_da - xr_da.mean("time")
xr_da.sel(lat=3.0)
xr_da.isel(time=slice(10, 20))
xr_da.sel(lat=4.4, method="nearest")
xr_da.transpose("lon", "lat", "time")
xr_da.where(xr_da > 0.5)
xr_da.rolling(time=5).mean()
xr_da.coarsen(lat=2, lon=2).mean()
xr_da.groupby("time.month").mean()
xr_da.resample(time="10D").mean()
xr_da.cumsum("time")
xr_da.diff("time")
xr_da.interp(lat=[1.5, 2.5])
xr_da.quantile(0.5, dim="time")
xr_da.weighted(xr_w).mean("lat")
xr_da.argmax("time")
xr_da.stack(z=("lat", "lon"))
xr_da.to_dataframe()
xr_ds.mean()
xr_ds["t"] * xr_ds["p"]
xr_ds.assign(q=xr_ds.t + xr_ds.p)
xr.concat([xr_da, xr_da], dim="run")
xr.dot(xr_da, xr_w, dim="lat")
np.exp(xr_da)
xr_da.dropna("time")
"""

_SKLEARN_SETUP = """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier
sk_X, sk_y = make_classification(400, 12, random_state=0)
sk_docs = ["the cat sat on the mat", "a dog ran in the park", "birds fly over the sea"] * 20
sk_lin = LinearRegression().fit(sk_X, sk_y)
sk_log = LogisticRegression().fit(sk_X, sk_y)
sk_tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(sk_X, sk_y)
sk_rf = RandomForestClassifier(10, random_state=0).fit(sk_X, sk_y)
sk_knn = KNeighborsClassifier(3).fit(sk_X, sk_y)
sk_km = KMeans(3, n_init=1, random_state=0).fit(sk_X)
sk_pca = PCA(3).fit(sk_X)
sk_scaler = StandardScaler().fit(sk_X)
sk_pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(sk_X, sk_y)
sk_pred = sk_log.predict(sk_X)
sk_count = CountVectorizer().fit(sk_docs)
"""

_SKLEARN = """
LinearRegression().fit(sk_X, sk_y)
LogisticRegression().fit(sk_X, sk_y)
Ridge(alpha=0.5).fit(sk_X, sk_y)
GaussianNB().fit(sk_X, sk_y)
DecisionTreeClassifier(max_depth=4, random_state=0).fit(sk_X, sk_y)
RandomForestClassifier(10, random_state=0).fit(sk_X, sk_y)
KMeans(3, n_init=1, random_state=0).fit(sk_X)
PCA(3).fit_transform(sk_X)
StandardScaler().fit_transform(sk_X)
MinMaxScaler().fit_transform(sk_X)
PolynomialFeatures(2).fit_transform(sk_X)
CountVectorizer().fit_transform(sk_docs)
TfidfVectorizer().fit_transform(sk_docs)
train_test_split(sk_X, sk_y, random_state=0)
sk_lin.predict(sk_X)
sk_log.predict(sk_X)
sk_log.predict_proba(sk_X)
sk_tree.predict(sk_X)
sk_rf.predict(sk_X)
sk_knn.predict(sk_X[:50])
sk_km.predict(sk_X)
sk_pca.transform(sk_X)
sk_scaler.transform(sk_X)
sk_pipe.predict(sk_X)
sk_log.score(sk_X, sk_y)
sk_count.transform(sk_docs)
accuracy_score(sk_y, sk_pred)
f1_score(sk_y, sk_pred)
confusion_matrix(sk_y, sk_pred)
roc_auc_score(sk_y, sk_pred)
"""

ARRAYS = (
    Library("numpy", _NUMPY_SETUP, _NUMPY),
    Library("xarray", _XARRAY_SETUP, _XARRAY),
    Library("sklearn", _SKLEARN_SETUP, _SKLEARN),
)
