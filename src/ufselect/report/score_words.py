"""What a method's score says, in a sentence."""

from __future__ import annotations

WORDS = {
    "DSCOFS": "The score is how strongly a feature takes part in the directions along which the table "
    "varies.",
    "DSCOFS, constrained": "The score is how strongly a feature takes part in the directions along which the "
    "table varies; 0 for those that are not kept.",
    "PCA leverage": "The score is how strongly a feature takes part in the leading principal components.",
    "Max variance": "The score is the feature's standard deviation.",
    "Random": "The score is a random number.",
    "D-optimal leverage": "The score is how much new directions a feature added when it was chosen.",
    "Greedy projection": "The score counts the steps: the feature that was chosen first has the largest.",
    "LapScore": "The score says how little a feature differs between neighbouring samples; 0 is the best.",
    "UDFS": "The score is the feature's weight in telling neighbourhoods of samples apart.",
    "SOGFS": "The score is the feature's weight in a projection that keeps a learned graph of samples.",
    "RNE": "The score is the feature's weight in a projection that keeps neighbourhoods of samples.",
    "FSPCA": "The score is the variance that a feature contributes to the components of the kept ones.",
    "SPCAFS": "The score is the feature's weight in sparse principal components.",
    "SPCAPSD": "The score is the feature's weight in rebuilding all features.",
    "Graph partition": "The score says how well the feature keeps groups apart that a cut of the graph of "
    "neighbouring samples found.",
    "TSFS": "The score is the feature's weight at the entrance of a small neural network.",
}


def score_words(label: str) -> str:
    """Return what the score of the method with this label says; larger is better in all of them."""
    return WORDS.get(label, "A larger score is better.")
