"""``ufselect demo``: select pixels of handwritten digits, and reconstruct new digits from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli import options as opt
from ufselect.cli.text import output, percent, pixel_map, say, tell, working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ufselect.io import Table

PICTURE, PAGE = Path("ufselect-demo.png"), Path("ufselect-demo.html")
N_PIXELS = 20


def demo(force: opt.Force = False) -> None:
    """Try ufselect on images of handwritten digits."""
    opt.check_files({"picture": PICTURE, "page": PAGE}, force, None)
    import numpy as np
    from sklearn.cluster import KMeans

    from ufselect import Reconstructor
    from ufselect.cli.record import page, record_of
    from ufselect.io import ReadOptions
    from ufselect.io.files import write_together
    from ufselect.metrics import clustering_accuracy
    from ufselect.pipeline import Request, run_selection

    table = opt.open_data("digits")
    X, shape = table.data, table.image_shape or (8, 8)
    order = np.random.default_rng(0).permutation(len(X))
    known, new = np.sort(order[600:]), np.sort(order[:600])

    def clustered(pixels: NDArray) -> float:
        clusters = KMeans(10, n_init=5, random_state=0).fit_predict(X[:, pixels])
        return clustering_accuracy(table.labels, clusters)

    rng = np.random.default_rng(0)
    drawn = [np.sort(rng.permutation(64)[:N_PIXELS]) for _ in range(5)]
    with working("Selecting 20 of 64 pixels of 1797 handwritten digits:"):
        run = run_selection(replace(table, data=X[known]), Request(n_features=N_PIXELS))
        record = record_of(run, ReadOptions(), ["demo"])
        ours, random = (
            Reconstructor(pixels, "ridge").fit(X[known])
            for pixels in (run.selected.tolist(), drawn[0].tolist())
        )
        accuracies = [clustered(pixels) for pixels in drawn]
    support = run.selector.support_
    console = output()
    console.print(f"{N_PIXELS} of 64 pixels selected from {known.size} handwritten digits, without labels")
    console.print(pixel_map(support, shape, table.image_order))
    tell(console, record["message"])
    accuracies_of = [clustered(support), float(np.mean(accuracies)), clustered(np.ones(64, dtype=bool))]
    tell(
        console,
        "K-means on these pixels finds the ten digits with an accuracy of {}; on random pixels {}, on all 64 "
        "{}.".format(*map(percent, accuracies_of)),
    )
    with working("Drawing …"):
        figure = draw_digits(table, new, ours, random, run.assessment)
        text = page(run, record)
        write_together(
            {
                PICTURE: lambda target: figure.savefig(target, dpi=160, format="png"),
                PAGE: lambda target: target.write_text(text, encoding="utf-8"),
            },
            force,
        )
    say(f"Wrote {PICTURE} and {PAGE}; open them in a browser.")
    say("Next, your own table: ufselect select table.csv -k 20 -o selected.csv --report page.html")


def draw_digits(table: Table, new: NDArray, ours: Any, random: Any, assessment: Any) -> Any:
    """Draw new digits: original, selected pixels, and reconstructions from these and from random pixels."""
    import numpy as np

    from ufselect.plotting.style import SELECTED, matplotlib

    X, labels = table.data, np.asarray(table.labels)
    shown = [int(new[np.argmax(labels[new] == digit)]) for digit in range(10)]
    selected = np.isin(np.arange(X.shape[1]), ours.column_map_.columns)
    shares = [percent(assessment.mean(name)) for name in ("selected", "random columns")]
    rows = {
        "original": X[shown],
        f"{N_PIXELS} selected\npixels": np.where(selected, X[shown], np.nan),
        f"reconstructed:\n{shares[0]} of the variance": ours.inverse_transform(ours.transform(X[shown])),
        f"from random pixels:\n{shares[1]} of the variance": random.inverse_transform(
            random.transform(X[shown])
        ),
    }
    figure = matplotlib("figure").Figure(figsize=(11, 4.9), layout="constrained", facecolor="white")
    for axes, (name, images) in zip(figure.subplots(4, len(shown)), rows.items(), strict=True):
        for ax, image in zip(axes, images, strict=True):
            ax.set_facecolor("#EDEFF2")
            picture = np.reshape(image, table.image_shape or (8, 8), order=table.image_order)  # type: ignore[call-overload]
            ax.imshow(picture, cmap="Greys", vmin=0, vmax=16, interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_color(SELECTED if "selected" in name else "#C9CED6")
        axes[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)
    figure.suptitle("New digits, held out from the selection", fontsize=13)
    return figure
