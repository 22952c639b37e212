from sklearn.datasets import load_digits

from ufselect import ReconstructionSelector
from ufselect.plotting import PixelsDisplay

pixels = load_digits().data
PixelsDisplay.from_estimator(ReconstructionSelector(20).fit(pixels), (8, 8), background=pixels.mean(axis=0))
