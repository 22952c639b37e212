"""The published figures: accuracy and NMI in per cent, mean, standard deviation, number of features.

From X. Xiu, A. Yang, C. Huang, X. Li, W. Liu, "Enhancing unsupervised feature selection via double sparsity
constrained optimization", the tables of ACC, NMI, ablation, Friedman test and comparison with TSFS.
"""

from __future__ import annotations

from typing import NamedTuple

TITLES = {
    "coil20": "COIL20",
    "usps": "USPS",
    "lung_discrete": "lung_discrete",
    "glioma": "GLIOMA",
    "umist": "UMIST",
    "warppie10p": "warpPIE10P",
    "isolet": "Isolet",
    "mstar_soc_cnn": "MSTAR_SOC_CNN",
}
SEVEN = tuple(name for name in TITLES if name != "mstar_soc_cnn")
# What the paper's figures show: heat maps; sensitivity, box plots and convergence; accuracy against time.
HEAT_MAP_SETS = ("coil20", "usps", "glioma", "isolet")
DISCUSSED_SETS = ("coil20", "usps", "lung_discrete", "isolet")
FIGURE_SETS = tuple(name for name in SEVEN if name in {*HEAT_MAP_SETS, *DISCUSSED_SETS})
TIMED_SET = "isolet"


class Published(NamedTuple):
    """One figure of the paper."""

    mean: float
    std: float
    n_features: int | None


METHODS = (
    "AllFeatures", "LaplacianScore", "UDFS", "SOGFS", "RNE", "FSPCA", "SPCAFS", "SPCAPSD", "DSCOFS",
)  # fmt: skip
# One line per data set and metric, in the order of METHODS: mean, standard deviation, number of features.
FIGURES: dict[tuple[str, str], str] = {
    ("acc", "coil20"): "57.74 4.93 -, 54.82 3.91 100, 58.71 3.47 100, 49.66 4.81 100, 55.84 4.41 90, "
    "50.15 4.70 100, 54.39 3.67 100, 56.57 3.05 100, 60.51 4.63 100",
    ("acc", "usps"): "65.12 4.95 -, 62.02 4.09 90, 59.52 2.97 60, 55.58 3.07 100, 46.04 2.69 100, "
    "67.38 4.36 60, 67.34 4.49 100, 65.38 4.26 100, 69.67 4.97 100",
    ("acc", "glioma"): "56.84 5.24 -, 58.88 3.96 90, 56.80 4.85 100, 57.44 6.16 70, 58.32 7.31 90, "
    "47.92 4.61 80, 50.60 5.02 20, 59.28 5.01 90, 60.88 6.31 80",
    ("acc", "umist"): "41.07 2.38 -, 40.13 2.79 100, 47.12 2.49 40, 41.70 3.17 100, 40.35 2.26 90, "
    "46.70 2.29 100, 46.78 2.51 90, 47.98 2.91 90, 48.10 3.01 70",
    ("acc", "warppie10p"): "25.67 1.90 -, 28.94 1.66 100, 41.42 3.18 20, 46.90 3.89 20, 29.57 2.96 90, "
    "28.01 2.27 50, 48.76 3.86 50, 43.74 3.91 70, 49.00 3.88 40",
    ("acc", "isolet"): "57.89 3.82 -, 52.21 2.76 100, 41.95 2.07 100, 49.31 2.32 100, 47.12 2.06 90, "
    "53.62 2.36 100, 53.04 2.33 100, 51.91 2.15 70, 59.67 3.46 100",
    ("acc", "mstar_soc_cnn"): "77.04 7.98 -, 67.87 3.49 90, 78.15 5.80 90, 73.74 5.89 100, 69.16 6.03 100, "
    "75.52 6.22 70, 80.80 5.95 100, 79.70 6.43 90, 82.59 7.41 100",
    ("acc", "lung_discrete"): "65.10 6.44 -, 59.29 6.33 70, 68.58 6.99 100, 65.12 6.89 100, 64.05 6.65 100, "
    "60.19 6.55 40, 71.37 7.68 100, 72.22 8.02 80, 73.12 8.48 100",
    ("nmi", "coil20"): "75.37 1.96 -, 69.59 1.48 100, 73.54 1.76 100, 68.92 1.84 100, 70.43 1.92 100, "
    "68.50 1.56 100, 69.98 1.45 100, 69.85 1.41 100, 76.25 1.71 100",
    ("nmi", "usps"): "61.12 2.01 -, 59.46 1.80 100, 54.69 2.11 100, 52.96 1.54 100, 45.36 1.93 90, "
    "62.00 1.87 60, 60.98 2.37 100, 60.90 2.02 100, 64.06 2.58 100",
    ("nmi", "glioma"): "48.86 5.72 -, 51.03 2.48 100, 47.22 3.53 10, 48.67 10.98 100, 48.62 6.32 100, "
    "21.94 5.28 100, 24.14 6.97 100, 51.44 5.62 90, 51.06 6.19 80",
    ("nmi", "umist"): "63.67 1.85 -, 61.16 1.71 100, 62.00 1.58 100, 60.79 1.54 100, 55.92 1.57 70, "
    "65.27 1.58 100, 66.23 1.60 90, 66.25 1.72 100, 67.24 1.85 100",
    ("nmi", "warppie10p"): "25.07 2.88 -, 25.13 1.73 90, 46.18 3.30 20, 52.12 3.25 20, 32.67 3.31 90, "
    "23.90 2.01 50, 52.63 3.33 50, 46.02 3.70 70, 52.65 3.29 50",
    ("nmi", "isolet"): "75.72 1.70 -, 69.77 1.20 100, 56.29 1.11 100, 67.40 1.44 100, 64.27 0.95 90, "
    "70.79 1.12 100, 67.71 1.33 100, 69.69 0.80 100, 75.01 1.35 100",
    ("nmi", "mstar_soc_cnn"): "82.42 3.31 -, 74.10 1.76 100, 76.45 2.47 90, 76.39 1.70 100, 66.87 1.99 80, "
    "78.39 2.17 90, 80.33 2.50 100, 79.17 2.77 90, 81.14 3.13 100",
    ("nmi", "lung_discrete"): "62.85 5.13 -, 56.79 3.99 100, 64.84 5.09 100, 59.70 5.24 100, 61.63 5.83 70, "
    "58.26 6.39 40, 69.09 5.61 100, 70.93 5.46 80, 70.98 7.00 100",
}
# ACC without and with the entry constraint, NMI without and with it, and FSR, all in per cent.
ABLATION = {
    "coil20": (60.25, 60.51, 75.89, 76.25, 84),
    "usps": (67.84, 69.67, 60.90, 64.06, 68),
    "lung_discrete": (71.42, 73.12, 69.74, 70.98, 92),
    "glioma": (58.24, 60.88, 49.76, 51.06, 85),
    "umist": (47.33, 48.10, 67.44, 67.24, 95),
    "warppie10p": (47.91, 49.00, 51.19, 52.65, 89),
    "isolet": (57.29, 59.67, 72.82, 75.01, 52),
    "mstar_soc_cnn": (82.06, 82.59, 81.01, 81.14, 99),
}
# ACC and NMI of TSFS.
TSFS = {
    "coil20": (60.80, 71.59),
    "usps": (61.96, 56.20),
    "lung_discrete": (64.36, 61.61),
    "isolet": (60.40, 76.13),
}
AVERAGE_RANKS = dict(zip(METHODS[1:], (6.0, 4.75, 5.75, 6.125, 5.5, 3.75, 3.125, 1.0), strict=True))
# Methods that the paper's Nemenyi test tells from DSCOFS, and its p of Friedman's test.
TOLD_APART = ("LaplacianScore", "UDFS", "SOGFS", "RNE", "FSPCA")
FRIEDMAN_P = 0.0001


def published(metric: str, dataset: str, method: str) -> Published | None:
    """Return the paper's figure, or None where it gives none.

    Examples
    --------
    >>> published("acc", "isolet", "DSCOFS")
    Published(mean=59.67, std=3.46, n_features=100)
    """
    if method not in METHODS or (metric, dataset) not in FIGURES:
        return None
    mean, std, count = FIGURES[metric, dataset].split(", ")[METHODS.index(method)].split()
    return Published(float(mean), float(std), None if count == "-" else int(count))
