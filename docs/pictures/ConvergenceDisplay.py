from sklearn.datasets import load_digits

from ufselect import DSCOFS
from ufselect.plotting import ConvergenceDisplay

selector = DSCOFS(n_features_to_select=20, n_components=10, tol=1e-9, max_iter=2000)
ConvergenceDisplay.from_estimator(selector.fit(load_digits().data))
