from sklearn.datasets import load_digits

from ufselect import RebuildSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

pixels = load_digits().data
train, test = pixels[:1200], pixels[1200:]
reconstructor = Reconstructor(RebuildSelector(30)).fit(train)
ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
