from sklearn.datasets import load_digits

from ufselect import RebuildSelector
from ufselect.plotting import PixelsDisplay

pixels = load_digits().data
PixelsDisplay.from_estimator(RebuildSelector(20).fit(pixels), (8, 8), background=pixels.mean(axis=0))
