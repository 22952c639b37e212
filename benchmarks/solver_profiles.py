"""Performance profiles of the solvers: whole fits of DSCOFS, and its X-step alone.

``python benchmarks/solver_profiles.py fits|x-steps [--quick] [--svg FILE]`` solves the same problems with
every solver and prints, as Markdown, which share of them each solves within a factor of the best.
``small-penalties`` counts the products to a small gradient where the power step crawls. Run with one BLAS
thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from common import REAL_SETS, CountingGram, data_source, load
from solver_runs import (
    N_ROWS,
    PATHS,
    Point,
    Problem,
    Solver,
    Subproblem,
    fit_solvers,
    problems,
    x_step_solvers,
)

from ufselect.gram import gram_operator
from ufselect.methods._sets import project_entries, project_rows
from ufselect.methods.dscofs.start import best_random_start, pca_start

QUICK_SETS = ("lung_discrete", "usps")
MAX_PRODUCTS = 3000
ACCURACIES = (1e-3, 1e-6, 1e-8)
FACTORS = (1.0, 1.3, 2.0, 5.0, 20.0, 100.0)
SHORT, REPEATS = 0.2, 3  # runs of fewer CPU seconds are timed so many times


def small_penalties(name: str = "warppie10p") -> None:
    """Print the products with S until the gradient of an X-step is 1e-8 of the first one, or at rounding."""
    data, m = load(name)
    gram = CountingGram(gram_operator(data))
    starts = {
        "PCA": pca_start(gram.eigenpairs(m)).point,
        "random": best_random_start(gram, m, 10, np.random.default_rng(0)).point,
    }
    print("\n### Small penalties\n")
    print("| start | μ | " + " | ".join(f"{path} | reached" for path in PATHS) + " |")
    print("|---|---|" + "---|" * (2 * len(PATHS)))
    for kind, X in starts.items():
        for mu in (1.0, 100.0, 1e4):
            weight = mu * gram.scale**-2
            pull = weight * (project_entries(X, X.size // 50)[0] + project_rows(X, N_ROWS)[0])
            first = Subproblem(gram, pull, X, gram.gram.matmat(X))
            cells = []
            for path in PATHS.values():
                gram.n_products, reached = 0, 1.0
                for model in path(first):
                    reached = model.slope / first.slope
                    if reached <= 1e-8 or gram.n_products >= MAX_PRODUCTS:
                        break
                cells.append(f"{gram.n_products} | {reached:.0e}")
            print(f"| {kind} | {mu:g} | " + " | ".join(cells) + " |", flush=True)


def cost_to_reach(points: list[Point], goal: float, accuracy: float, unit: str) -> float:
    """Return what a solver spent until the gap to the goal was this share of the gap at the start."""
    target = goal + accuracy * (points[0].objective - goal)
    reached = [getattr(point, unit) for point in points if point.objective <= target]
    return max(min(reached), 1e-9 if unit == "seconds" else 1) if reached else np.inf


def traces_of(solvers: Mapping[str, Solver], problem: Problem, budget: float) -> list[list[Point]]:
    """Return each solver's trace, with the shortest times of several runs where a run is short.

    The repeats go round the solvers, so that a slow moment of the machine does not fall on one of them.
    """
    traces = [solve(problem, budget) for solve in solvers.values()]
    for _ in range(REPEATS - 1):
        for number, solve in enumerate(solvers.values()):
            if traces[number][-1].seconds <= SHORT:
                pairs = zip(traces[number], solve(problem, budget), strict=False)
                traces[number] = [replace(p, seconds=min(p.seconds, q.seconds)) for p, q in pairs]
    return traces


Costs = dict[tuple[str, float], np.ndarray]


def measure(
    solvers: Mapping[str, Solver], chosen: Iterator[Problem], budget: float, *, own_goal: bool
) -> tuple[Costs, np.ndarray]:
    """Return the costs by unit and accuracy, and the excess of each solver's last objective over the lowest.

    With ``own_goal`` a solver's goal is where it comes to rest, since fits from one start end in different
    local minima. One that is still moving when its budget is spent has not solved the problem, and neither
    has one that rests before nine tenths of the longest descent. Otherwise the goal is the lowest objective
    that any solver found.
    """
    costs: dict[tuple[str, float], list[list[float]]] = {}
    excesses = []
    for problem in chosen:
        print(problem.label, file=sys.stderr, flush=True)
        traces = traces_of(solvers, problem, budget)
        ends = np.array([points[-1].objective for points in traces])
        descents = max(points[0].objective for points in traces) - ends
        is_over = np.array([points[-1].seconds <= budget for points in traces])
        rests = is_over & (descents >= 0.9 * descents.max())
        excesses.append((ends - ends.min()) / abs(ends.min()))
        for unit in ("products", "seconds"):
            for accuracy in ACCURACIES:
                row = [
                    np.inf
                    if own_goal and not rests[number]
                    else cost_to_reach(points, ends[number] if own_goal else ends.min(), accuracy, unit)
                    for number, points in enumerate(traces)
                ]
                costs.setdefault((unit, accuracy), []).append(row)
    return {key: np.array(rows) for key, rows in costs.items()}, np.array(excesses)


def ratios_to_best(table: np.ndarray) -> np.ndarray:
    solved = table[np.isfinite(table).any(axis=1)]
    return solved / solved.min(axis=1, keepdims=True)


def print_profiles(solvers: Mapping[str, Solver], costs: Costs, excesses: np.ndarray) -> None:
    for (unit, accuracy), table in costs.items():
        ratios = ratios_to_best(table)
        print(
            f"\nTo {accuracy:g}, in {unit}; {len(ratios)} of {len(table)} problems solved by one or more.\n"
        )
        print("| solver | " + " | ".join(f"{factor:g}×" for factor in FACTORS) + " | solved |")
        print("|---|" + "---|" * (len(FACTORS) + 1))
        for column, name in enumerate(solvers):
            shares = [np.mean(ratios[:, column] <= factor * (1 + 1e-9)) for factor in FACTORS]
            solved = np.mean(np.isfinite(ratios[:, column]))
            print(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + f" | {solved:.2f} |")
    print("\n| solver | ends lowest | median excess | largest excess | at most 1.2× power's seconds |")
    print("|---|---|---|---|---|")
    finest = costs["seconds", ACCURACIES[-1]]
    power = finest[:, list(solvers).index("power")]
    for column, name in enumerate(solvers):
        excess = excesses[:, column]
        lowest, bearable = np.mean(excess <= 1e-9), np.mean(finest[:, column] <= 1.2 * power)
        print(f"| {name} | {lowest:.2f} | {np.median(excess):.1e} | {excess.max():.1e} | {bearable:.2f} |")


def draw(solvers: Mapping[str, Solver], costs: Costs, path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(ACCURACIES), figsize=(11, 5.5), sharex=True, sharey=True)
    styles = ["-", "--", "-.", ":"]
    for (unit, accuracy), table in costs.items():
        axis = axes[("products", "seconds").index(unit), ACCURACIES.index(accuracy)]
        ratios = ratios_to_best(table)
        for column, name in enumerate(solvers):
            finite = np.sort(ratios[np.isfinite(ratios[:, column]), column])
            factors = np.concatenate([[1.0], finite, [300.0]])
            shares = np.concatenate([[0], np.arange(1, finite.size + 1), [finite.size]]) / len(ratios)
            axis.step(
                factors,
                shares,
                where="post",
                label=name,
                linestyle=styles[column % len(styles)],
                color=f"C{column}",
                linewidth=2.4 if column == 0 else 1.2,
            )
        axis.set(xscale="log", xlim=(1, 300), ylim=(0, 1.02), title=f"to {accuracy:g}, {unit}")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, loc="center right")
    figure.supxlabel("factor of the best solver")
    figure.supylabel("share of problems solved")
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    figure.savefig(path)


def profiles(*, whole: bool, quick: bool, budget: float, svg: str | None) -> None:
    solvers = (fit_solvers if whole else x_step_solvers)(budget)
    chosen = problems(QUICK_SETS if quick else REAL_SETS, (1e-4, 1e-3, 1e-2, 1e-1, 1.0))
    costs, excesses = measure(solvers, chosen, budget, own_goal=whole)
    print(f"{len(excesses)} problems on {data_source()}, at most {budget:g} CPU s a run")
    print_profiles(solvers, costs, excesses)
    if svg:
        draw(solvers, costs, svg)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("fits", "x-steps", "small-penalties"))
    parser.add_argument("--quick", action="store_true", help="two small data sets")
    parser.add_argument("--budget", type=float, default=1.5, help="most CPU seconds of a run")
    parser.add_argument("--svg", help="file to draw the profiles to")
    arguments = parser.parse_args()
    if arguments.part == "small-penalties":
        small_penalties()
    else:
        whole = arguments.part == "fits"
        profiles(whole=whole, quick=arguments.quick, budget=arguments.budget, svg=arguments.svg)


if __name__ == "__main__":
    main()
