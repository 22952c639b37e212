"""The data sets: public source, size and checksum of each.

The publishers give no checksums, and the files may be stored again with other compression. So a data set is
verified by the SHA-256 of its content: the bytes of ``X`` (float64, C order) followed by those of ``y``
(int64), little-endian. Of MSTAR_SOC_CNN the id of the file in git is known instead, by which it is also
downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

SKFEATURE = "jundongl/scikit-feature"
CLUSTERING = "milaan9/Clustering-Datasets"
WITH_SKLEARN = ("digits", "breast_cancer", "wine", "iris")


@dataclass(frozen=True)
class Entry:
    """One published data set."""

    title: str
    n_samples: int
    n_features: int
    n_classes: int
    summary: str
    repository: str  # on GitHub
    path: str
    content_sha256: str | None = None
    image_shape: tuple[int, int] | None = None  # rows × columns
    image_order: str = "F"  # "F" if the pixels run down the columns first
    git_blob: str | None = None  # the id of the file in its repository, where no checksum is known

    @property
    def file_name(self) -> str:
        return PurePosixPath(self.path).name

    @property
    def url(self) -> str:
        if self.git_blob is not None:
            return f"https://api.github.com/repos/{self.repository}/git/blobs/{self.git_blob}"
        return f"https://raw.githubusercontent.com/{self.repository}/HEAD/{quote(self.path)}"


ENTRIES = {
    "coil20": Entry(
        "COIL20", 1440, 1024, 20,
        "Grey images of 20 objects, each turned through 72 positions; 32 × 32 pixels in [0, 1].",
        SKFEATURE, "skfeature/data/COIL20.mat",
        "ac9da26e12ede19fdb8b9fbf7243417366f4d3463723e79608324e164ac9ddbd",
        (32, 32),
    ),
    "usps": Entry(
        "USPS", 1000, 256, 10,
        "Handwritten digits, 100 a class, 16 × 16 pixels in [-1, 1]; the label is the digit plus 1. The "
        "paper does not say which 1000 of the 9298 images it uses; these are the first 100 of each class of "
        "the training part.",
        "leguandeqingtianlife/HDLSS_dataset", "datasets/USPS_1000.mat",
        "4eaf90152c506bea3b206801f78ad98ef3f34ad3689ee6ae9193ffa1a8752364",
        (16, 16), "C",
    ),
    "lung_discrete": Entry(
        "lung_discrete", 73, 325, 7,
        "Gene expression of lung tissue, discretised to -2, 0 and 2.",
        SKFEATURE, "skfeature/data/lung_small.mat",
        "313b4f8094f0a8c644f710b3673a3df17218bccf87c1a326499ed4343617ecb4",
    ),
    "glioma": Entry(
        "GLIOMA", 50, 4434, 4,
        "Gene expression of gliomas, on a logarithmic scale.",
        SKFEATURE, "skfeature/data/GLIOMA.mat",
        "52d769a6aec17a39d6f6f6c1b5635ab2d596e3d272bd117ce31c40ab92109cec",
    ),
    "umist": Entry(
        "UMIST", 575, 644, 20,
        "Faces of 20 people from profile to frontal view; 28 × 23 pixels in [0, 1]. Ten images of class 2 "
        "occur twice, as in the source.",
        "ycwang-libra/LpCNMF_github", "datasets/umist.mat",
        "114fc35ee037c184d19b2bc5e4689c61fd2b7668ff303645cacf95b67ca66ffc",
        (28, 23),
    ),
    "warppie10p": Entry(
        "warpPIE10P", 210, 2420, 10,
        "Faces of 10 people under varying light and pose; 55 × 44 pixels from 0 to 255.",
        SKFEATURE, "skfeature/data/warpPIE10P.mat",
        "12c0742be7afb4eddfa2336d58c1f5f339657a03425783cc7828e31de925550d",
        (55, 44),
    ),
    "isolet": Entry(
        "Isolet", 1560, 617, 26,
        "The letters of the alphabet spoken by 30 people, described by 617 acoustic features in [-1, 1].",
        SKFEATURE, "skfeature/data/Isolet.mat",
        "ce2f0e43b3176c4f9ed7dfde44674d00dec12d70c12bb13c77c258a55d40ef0d",
    ),
    "mstar_soc_cnn": Entry(
        "MSTAR_SOC_CNN", 2425, 1024, 10,
        "Radar images of ten vehicles, described by 1024 outputs of a convolutional network.",
        "zjj20212035/SPCA-PSD", "MSTAR_SOC_CNN.mat",
        git_blob="e4e80ef197529d0af9c2430404045fc9da78dbe5",
    ),
    "two_spiral": Entry(
        "2Spiral", 1000, 2, 2,
        "Two interleaved spirals in the plane. make_noisy_shapes('two_spirals') adds the noise features.",
        CLUSTERING, "02. Synthetic/2spiral.mat",
        "52b5043741acb2223f2818e8bb2fd8e8117c5ef3cca324c5b7dd576a31f8bbe4",
    ),
    "banana": Entry(
        "Banana", 4811, 2, 2,
        "Two interlocked crescents in the plane; the paper draws 500 points of each. "
        "make_noisy_shapes('banana') generates such points and adds the noise features.",
        CLUSTERING, "02. Synthetic/banana.mat",
        "4df6e97a0ae31fca4fbebe01a07cc6499b033958b35568f4a9c62e38f0ba3db1",
    ),
    "dartboard": Entry(
        "Dartboard", 1000, 2, 4,
        "Four concentric circles in the plane. make_noisy_shapes('dartboard') adds the noise features.",
        CLUSTERING, "02. Synthetic/dartboard1.mat",
        "8df2454c7bf219434874aa4f8eca974a9621da06200b07bb8346368ab20b8a58",
    ),
}  # fmt: skip


def names() -> list[str]:
    """Return the names of all data sets."""
    return [*ENTRIES, *WITH_SKLEARN]
