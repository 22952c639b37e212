"""Draw the picture of RedundancyDisplay in the API reference and on the page of redundant columns."""

from sklearn.datasets import load_breast_cancer

from ufselect import RedundancyFilter
from ufselect.plotting import RedundancyDisplay

RedundancyDisplay.from_estimator(RedundancyFilter(0.95).fit(load_breast_cancer(as_frame=True).data))
