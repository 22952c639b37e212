"""
Which frames carry a film?
==========================

Four pans across pictures that come with scikit-image make a film of 216 frames; the scenes have 120, 60, 24
and 12. Which eight frames stand for all? Here frames are the columns and pixels the rows. ``RebuildSelector``
takes the frames from which all others can be rebuilt, pixel by pixel; one frame every so often, and the
frames nearest to the centres of K-means, are what is usually taken.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import skimage.data
from skimage.transform import resize
from sklearn.cluster import KMeans

from ufselect import RebuildSelector, Reconstructor

window = 24
lengths = {"camera": 120, "coins": 60, "moon": 24, "page": 12}
frames = []
for name, length in lengths.items():
    picture = getattr(skimage.data, name)() / 255
    small = resize(picture, (64, round(64 * picture.shape[1] / picture.shape[0])), anti_aliasing=True)
    room = np.array(small.shape) - window
    for turn in np.linspace(0, 2 * np.pi, length, endpoint=False):  # the window goes round in a circle
        top, left = np.rint(room * (1 + np.array([np.sin(turn), np.cos(turn)])) / 2).astype(int)
        frames.append(small[top : top + window, left : left + window].ravel())
film = np.array(frames) + 0.02 * np.random.default_rng(0).standard_normal((len(frames), window**2))
scene = np.repeat(np.arange(4), list(lengths.values()))

# %%
# Choose from 70 % of the pixels, and judge by the others.
pixels = np.random.default_rng(0).permutation(window**2)
train, test = film.T[pixels[170:]], film.T[pixels[:170]]


def error(chosen):
    """Return the error of rebuilding all frames from the chosen ones, 1 where each is a plain grey."""
    given = RebuildSelector(len(chosen), keep=chosen)  # all of them are given
    return np.sqrt(1 - Reconstructor(given).fit(train).score(test))


count = 8
centres = KMeans(count, n_init=10, random_state=0).fit(train.T)
key_frames = {
    "every 27th": np.arange(13, 216, 27),
    "K-means": np.unique(centres.transform(train.T).argmin(axis=0)),
    "RebuildSelector": RebuildSelector(count).fit(train).get_support(indices=True),
}
rng = np.random.default_rng(0)
drawn = [error(rng.choice(216, count, replace=False)) for _ in range(50)]
print(f"random frames: error {np.mean(drawn):.2f} ± {np.std(drawn):.2f}")
for name, chosen in key_frames.items():
    print(f"{name}: error {error(chosen):.2f}, {np.unique(scene[chosen]).size} of 4 scenes")

# %%
# The frames that were taken, and the scene they are from.
figure, axes = plt.subplots(3, count, figsize=(10, 4.4), layout="constrained")
for row, (name, chosen) in zip(axes, key_frames.items(), strict=True):
    for panel, frame in zip(row, chosen, strict=True):
        panel.imshow(film[frame].reshape(window, window), cmap="gray", vmin=0, vmax=1)
        panel.set_title(f"{frame}: {list(lengths)[scene[frame]]}", fontsize=8)
        panel.set_xticks([])
        panel.set_yticks([])
    row[0].set_ylabel(f"{name}\nerror {error(chosen):.2f}", fontsize=9)

# %%
# The least error is not the fairest choice: the moon, which hardly varies, and the page, which is short,
# cost little and are left out. If every scene must be there, say so: ``regions`` and ``quotas`` ask for at
# least one frame each.
each = dict.fromkeys(range(4), (1, count))
covered = RebuildSelector(count, regions=scene, quotas=each).fit(train).get_support(indices=True)
print(f"with quotas: error {error(covered):.2f}, {np.unique(scene[covered]).size} of 4 scenes")

# %%
# The error against the number of frames; the band is that of 20 random choices.
counts = [4, 8, 16, 32]
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
draws = [[error(rng.choice(216, number, replace=False)) for number in counts] for _ in range(20)]
axes.fill_between(
    counts, np.min(draws, axis=0), np.max(draws, axis=0), color="0.88", label="random frames, 20 draws"
)
curves = {
    "equidistant": lambda k: ((np.arange(k) + 0.5) * 216 / k).astype(int),
    "K-means": lambda k: np.unique(
        KMeans(k, n_init=10, random_state=0).fit(train.T).transform(train.T).argmin(axis=0)
    ),
    "RebuildSelector": lambda k: RebuildSelector(k).fit(train).get_support(indices=True),
}
for (name, choose), colour in zip(curves.items(), ("#E69F00", "#D55E00", "#0072B2"), strict=True):
    axes.plot(counts, [error(choose(number)) for number in counts], "o-", color=colour, label=name)
axes.set_xlabel("frames kept")
axes.set_ylabel("error, 1 = plain grey")
axes.legend(frameon=False)
plt.show()
