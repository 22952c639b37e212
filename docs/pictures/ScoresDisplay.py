from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS
from ufselect.plotting import ScoresDisplay

wine = load_wine(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(wine)
ScoresDisplay.from_estimator(DSCOFS(n_features_to_select=5, n_components=2).fit(X))
