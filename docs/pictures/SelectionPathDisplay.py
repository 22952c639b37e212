from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from ufselect import dscofs_path
from ufselect.plotting import SelectionPathDisplay

wine = load_wine()
path = dscofs_path(scale(wine.data), range(2, 12), (None,), n_components=3)
SelectionPathDisplay.from_estimator(path, feature_names=wine.feature_names)
