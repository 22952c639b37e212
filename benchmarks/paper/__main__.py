"""Repeat the experiments of the DSCOFS paper: every table and figure, from your own runs alone.

``python -m benchmarks.paper -o study --jobs 2`` from a clone. A run that was stopped continues where it
stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from types import TracebackType

from benchmarks.paper.printed import SEVEN, TITLES
from benchmarks.paper.publish import publish
from benchmarks.paper.study import QUICK_SETS, reproduce
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ufselect.compare.runner import Event
from ufselect.datasets.catalogue import ENTRIES
from ufselect.datasets.loading import local_file
from ufselect.exceptions import DatasetUnavailableError

# Minutes of one core for all methods, for the plan and the bar. Other sets are taken for small ones.
MINUTES = {
    "coil20": 30, "usps": 6, "lung_discrete": 4, "glioma": 40, "umist": 15, "warppie10p": 25, "isolet": 18,
    "mstar_soc_cnn": 40, "synthetic sets": 5,
}  # fmt: skip
QUICK_MINUTES = 0.5


def plan(names: list[str], output: Path, quick: bool, jobs: int) -> str:
    """Say what a run does, where its data are, what it writes and how long it takes."""
    lines = [f"Experiments of the DSCOFS paper (arXiv:2501.00726) on {', '.join(names)}", "Data"]
    downloads = False
    for name in [*names, *([] if quick else ["banana"])]:
        path = local_file(name, ENTRIES[name]) if name in ENTRIES else None
        source = path or (ENTRIES[name].url if name in ENTRIES else "comes with scikit-learn")
        downloads = downloads or str(source).startswith("http")
        lines.append(f"  {name}: {source}")
    if downloads:
        lines.append(
            "  Addresses are downloaded once (at most 20 MB each), verified by their checksums, and kept in "
            "the cache. To use your own copies, set UFSELECT_DATA to their folder."
        )
    expected = minutes(names, quick) / min(jobs, os.cpu_count() or 1)
    lines += [
        f"Output\n  {output}: tables (Markdown), figures (PNG, PDF), rows.csv, run.log",
        "  and cache, about 20 MB a data set, from which a stopped run continues",
        f"Time\n  about {max(2, expected):.0f} minutes with {jobs} process{'es' if jobs > 1 else ''}",
    ]
    if quick:
        lines.append(
            "A short version, for a look at what comes out: figures are not those of the full study."
        )
    return "\n".join(lines)


def minutes(names: list[str], quick: bool) -> float:
    """Return the CPU minutes that a study is expected to take."""
    if quick:
        return QUICK_MINUTES * (len(names) + 1)
    return sum(MINUTES.get(name, 5) for name in [*names, "synthetic sets"])


class Bar:
    """Progress of a study: its parts, and the stage of the current one."""

    def __init__(self, names: list[str]) -> None:
        self.weights = {name: MINUTES.get(name, 5) for name in [*names, "synthetic sets"]}
        count = TextColumn("{task.completed:.0f}/{task.total:.0f}")
        columns = TextColumn("{task.description:45}"), BarColumn(), count, TimeElapsedColumn()
        self.progress = Progress(*columns, console=Console(stderr=True))
        self.whole = self.progress.add_task("expected minutes", total=sum(self.weights.values()))
        self.stage = self.progress.add_task("", total=1)

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        names = [*self.weights]
        done = names[: names.index(event.dataset)]
        self.progress.update(self.whole, completed=sum(self.weights[name] for name in done))
        text = f"{event.dataset}: {event.stage.rstrip(',')}"
        self.progress.update(self.stage, description=text, completed=event.done, total=event.total)


def main(arguments: list[str] | None = None) -> int:
    """Run the study that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("study"), metavar="FOLDER",
        help="folder of tables and figures (default: study)",
    )  # fmt: skip
    parser.add_argument(
        "--dataset", action="append", metavar="NAME",
        help="a data set of ufselect.datasets; may be repeated (default: the paper's eight)",
    )  # fmt: skip
    parser.add_argument(
        "-m", "--method", action="append", metavar="NAME",
        help="a method; may be repeated (default: the paper's eight, seven newer ones, ours and baselines)",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a short version on data that need no download")
    parser.add_argument("--exact", action="store_true", help="50 runs for every parameter; takes days")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--fresh", action="store_true", help="discard what the folder holds and start anew")
    parser.add_argument(
        "--publish", action="store_true",
        help="replace the results that the documentation shows by this run's; needs the seven public sets",
    )  # fmt: skip
    asked = parser.parse_args(arguments)
    names = asked.dataset or [*(QUICK_SETS if asked.quick else TITLES)]
    if asked.publish and (asked.quick or asked.method or not {*SEVEN} <= {*names}):
        parser.error("--publish needs the seven public sets, all methods and no --quick")
    if asked.fresh:
        shutil.rmtree(asked.output / "cache", ignore_errors=True)
    settings = {
        "datasets": asked.dataset, "methods": asked.method, "quick": asked.quick, "exact": asked.exact,
    }  # fmt: skip
    try:
        print(plan(names, asked.output, asked.quick, asked.jobs), file=sys.stderr)
        asked.output.mkdir(parents=True, exist_ok=True)
        (asked.output / "settings.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        with Bar(names) as bar:
            study = reproduce(asked.output, **settings, n_jobs=asked.jobs, progress=bar)
    except (ValueError, DatasetUnavailableError) as error:
        print(error, file=sys.stderr)
        return 1
    print(study.tables[0].to_markdown())
    print(f"Wrote {len(study.tables)} tables and the figures to {asked.output}.", file=sys.stderr)
    if asked.publish:
        publish(asked.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
