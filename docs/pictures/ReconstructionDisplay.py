from sklearn.datasets import load_digits

from ufselect import ReconstructionSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

pixels = load_digits().data
train, test = pixels[:600], pixels[600:]
reconstructor = Reconstructor(ReconstructionSelector(30)).fit(train)
ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
