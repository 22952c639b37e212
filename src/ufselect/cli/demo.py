"""``ufselect demo``: pixels of handwritten digits, and how much of new digits is reconstructed from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli import options as opt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ufselect.io import Table

PICTURE, PAGE = Path("ufselect-demo.png"), Path("ufselect-demo.html")
N_PIXELS = 20


def demo(force: opt.Force = False, debug: opt.Debug = False) -> None:
    """See it work on images of handwritten digits."""
    opt.check_files({"picture": PICTURE, "page": PAGE}, force, None)
    import numpy as np
    from sklearn.cluster import KMeans

    from ufselect import DSCOFS, RandomSubset, RebuildSelector, Reconstructor
    from ufselect.cli.record import page, record_of
    from ufselect.cli.run import Request, run_selection
    from ufselect.cli.table import open_data
    from ufselect.cli.text import grid, output, pixel_map, say, tell, working
    from ufselect.io import ReadOptions
    from ufselect.io.files import write_together
    from ufselect.metrics import clustering_accuracy

    opened = open_data("digits", ReadOptions())
    table = opened.table
    X, shape = table.data, table.image_shape or (8, 8)
    order = np.random.default_rng(0).permutation(len(X))
    known, new = np.sort(order[600:]), np.sort(order[:600])

    def reconstructed(selector: Any) -> Any:
        return Reconstructor(selector).fit(X[known])

    def clustered(pixels: NDArray) -> float:
        found = KMeans(10, n_init=5, random_state=0).fit_predict(X[:, pixels])
        return clustering_accuracy(table.labels, found)

    with working("Selecting 20 of 64 pixels of 1797 handwritten digits:"):
        ours = reconstructed(RebuildSelector(N_PIXELS))
        paper = reconstructed(DSCOFS(N_PIXELS, n_components=10))
        draws = [reconstructed(RandomSubset(N_PIXELS, random_state=seed)) for seed in range(10)]
        run = run_selection(opened, Request(n_features=N_PIXELS))
        found = record_of(run, ReadOptions(), ["demo"])
        support = ours.selector_.get_support()
        accuracies = [clustered(draw.selector_.get_support()) for draw in draws[:5]]
    console = output()
    console.print(f"{N_PIXELS} of 64 pixels selected from {known.size} handwritten digits, without labels")
    console.print(pixel_map(support, shape, table.image_order))
    shares = [
        ("these pixels", ours.score(X[new])),
        ("pixels by DSCOFS, the method of the paper", paper.score(X[new])),
        ("random pixels, mean of ten selections", float(np.mean([draw.score(X[new]) for draw in draws]))),
    ]
    rows = [(name, f"{share:.0%}") for name, share in shares]
    heading = f"How much of {new.size} new digits is reconstructed from {N_PIXELS} pixels"
    console.print(grid(heading, ("from", "share of the variance>"), rows), highlight=False)
    tell(
        console,
        f"K-means on these pixels finds the ten digits with an accuracy of {clustered(support):.0%}; on "
        f"random pixels {np.mean(accuracies):.0%}, on all 64 {clustered(np.ones(64, dtype=bool)):.0%}.",
    )
    with working("Drawing …"):
        figure = draw_digits(table, new, ours, draws[0])
        text = page(run, found)
        write_together(
            {
                PICTURE: lambda target: figure.savefig(target, dpi=160, format="png"),
                PAGE: lambda target: target.write_text(text, encoding="utf-8"),
            },
            force,
        )
    say(f"Wrote {PICTURE} and {PAGE}; open them in a browser.")
    say("Next, your own table: ufselect select table.csv -k 20 -o picked.csv --report page.html")


def draw_digits(table: Table, new: NDArray, ours: Any, random: Any) -> Any:
    """Draw new digits: original, selected pixels, reconstructed from them, and from random pixels."""
    import numpy as np

    from ufselect.plotting.style import SELECTED, matplotlib

    X, labels = table.data, np.asarray(table.labels)
    shown = [int(new[np.argmax(labels[new] == digit)]) for digit in range(10)]
    support = ours.selector_.get_support()
    rows = {
        "original": X[shown],
        f"{N_PIXELS} selected pixels": np.where(support, X[shown], np.nan),
        "reconstructed": ours.inverse_transform(ours.transform(X[shown])),
        f"from {N_PIXELS} random pixels": random.inverse_transform(random.transform(X[shown])),
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
        axes[0].set_ylabel(name.replace(" ", "\n", 2), rotation=0, ha="right", va="center", fontsize=11)
    figure.suptitle("New digits, held out from the selection", fontsize=13)
    return figure
