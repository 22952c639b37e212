"""
A step in a pipeline
====================

A selector is an ordinary scikit-learn transformer: it goes into a pipeline, and a grid search can choose
how many features to keep when a supervised goal follows. The selection itself never sees the labels.
"""

# %%
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS

# With three of thirty features the default entry constraint cannot bind; we know and accept that here.
warnings.filterwarnings("ignore", message="The entry constraint cannot bind")

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
pipeline = make_pipeline(StandardScaler(), DSCOFS(n_components=4), LogisticRegression(max_iter=1000))
counts = [1, 2, 3, 5, 8, 12, 20, 30]
search = GridSearchCV(pipeline, {"dscofs__n_features_to_select": counts}, cv=5).fit(X, y)
print("best number of features:", search.best_params_["dscofs__n_features_to_select"])

# %%
# Twelve of the thirty measurements already come close to all of them.
means, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.errorbar(counts, means, yerr=spread, marker="o", capsize=3)
axes.set_xlabel("features kept")
axes.set_ylabel("cross-validated accuracy")
plt.show()
