from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS
from ufselect.plotting import LoadingsDisplay

wine = load_wine(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(wine)
LoadingsDisplay.from_estimator(DSCOFS(n_features_to_select=6, n_components=3).fit(X))
