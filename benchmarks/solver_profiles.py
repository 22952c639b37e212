"""Performance profiles of X-step solvers, and the constrained mode beside its rivals.

``python benchmarks/solver_profiles.py profiles [--quick] [--svg FILE]`` solves the same X-steps with every
solver and prints which share of them each solves within a factor of the best. ``constrained [--quick]``
prints the variance that each method's features carry. Rows are Markdown. Run with one BLAS thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ufselect.datasets import load_dataset
from ufselect.gram import gram_operator
from ufselect.selectors.dscofs import DSCOFS
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import DoubleSparsePCA, StiefelNewton, extrapolation, stiefel_pencf
from ufselect.solvers.certificates import captured_variance, optimality_gap, variance_upper_bound
from ufselect.solvers.counting import CountingGram
from ufselect.solvers.row_support import improve_by_proxy, improve_by_swaps
from ufselect.solvers.start import best_random_start, pca_start
from ufselect.solvers.stiefel_model import StiefelModel, norm

SETS = ("lung_discrete", "usps", "glioma", "warppie10p", "umist", "coil20", "isolet")
ACCURACIES = (1e-3, 1e-6, 1e-8)
FACTORS = (1.0, 1.3, 2.0, 5.0, 20.0, 100.0)
LADDER = (1e-1, 1e-3, 1e-5, 1e-8)


@dataclass(frozen=True)
class XStep:
    """One X-step problem: minimise −Tr(XᵀSX) − 2Tr(XᵀB) from a start."""

    label: str
    gram: CountingGram
    linear: np.ndarray
    start: np.ndarray
    product: np.ndarray

    def model(self, X: np.ndarray, product: np.ndarray | None = None) -> StiefelModel:
        return StiefelModel.at(
            self.gram, self.linear, X, self.gram.gram.matmat(X) if product is None else product
        )


@dataclass(frozen=True)
class Point:
    """What a solver had reached after so many products and CPU seconds."""

    products: int
    seconds: float
    objective: float


def x_steps(names: tuple[str, ...], mus: tuple[float, ...], alphas: tuple[float, ...]) -> Iterator[XStep]:
    for name in names:
        bunch = load_dataset(name)
        m = np.unique(bunch.target).size
        gram = CountingGram(gram_operator(np.asarray(bunch.data, dtype=np.float64)))
        spectrum = gram.eigenpairs(m)
        starts = {
            "pca": pca_start(spectrum),
            "random": best_random_start(gram, m, 10, np.random.default_rng(0)),
        }
        for kind, start in starts.items():
            X = np.asfortranarray(start.point)
            product = gram.matmat(X)
            for alpha in alphas:
                Y = entry_sparse.project(X, max(m, int(alpha * X.size)))
                Z = row_sparse.project(X, min(100, X.shape[0]))
                for mu in mus:
                    B = mu * float(spectrum.values[0]) * (Y + Z)
                    yield XStep(f"{name} μ={mu:g} α={alpha:g} {kind}", gram, B, X, product)


def trace_of_steps(step: XStep, budget: float, *, accelerated: bool) -> list[Point]:
    """Run power steps, plain or extrapolated with the safeguard, noting every point."""
    began = time.process_time()
    X, product = step.start, step.product
    model = step.model(X, product)
    points = [Point(0, 0.0, model.objective)]
    target = 1e-10 * norm(model.gradient)
    trail, n_products = None, 0
    while time.process_time() - began < budget and norm(model.gradient) > target:
        image = model.ascent
        point = extrapolation.extrapolate(trail, image) if accelerated and trail is not None else image
        X = stiefel.project(point)
        moved = step.model(X, step.gram.matmat(X))
        n_products += 1
        if point is not image and moved.objective > model.objective:
            trail = None
            continue
        if accelerated:
            trail = (
                extrapolation.begin(point, moved.ascent, image)
                if trail is None
                else trail.follow(point, moved.ascent, image, is_smooth=True)
            )
        if moved.objective >= model.objective:
            break
        model = moved
        points.append(Point(n_products, time.process_time() - began, model.objective))
    return points


def trace_of_runs(
    step: XStep, budget: float, run: Callable[[XStep, float, float], np.ndarray]
) -> list[Point]:
    """Run a solver afresh to finer and finer tolerances until it takes more than its budget."""
    points = [Point(0, 0.0, step.model(step.start, step.product).objective)]
    for tol in LADDER:
        step.gram.n_products = 0
        began = time.process_time()
        X = run(step, tol, budget)
        seconds = time.process_time() - began
        points.append(Point(step.gram.n_products, seconds, step.model(stiefel.project(X)).objective))
        if seconds > budget:
            break
    return points


def _problem(step: XStep) -> DoubleSparsePCA:
    return DoubleSparsePCA(step.gram, 1, 1, 0.0, 0.0, 0.0, 0.0, float(step.gram.diag().max()))


def run_newton(step: XStep, tol: float, budget: float) -> np.ndarray:
    ascent = step.product + step.linear
    return StiefelNewton(tol=tol).solve(_problem(step), step.start, step.product, ascent)


def run_pencf(step: XStep, tol: float, budget: float) -> np.ndarray:
    stiefel_pencf.RELATIVE_TOL = tol
    ascent = step.product + step.linear
    return stiefel_pencf.PenCF().solve(_problem(step), step.start, step.product, ascent)


def run_pymanopt(step: XStep, tol: float, budget: float, optimizer: str) -> np.ndarray:
    import pymanopt

    manifold = pymanopt.manifolds.Stiefel(*step.start.shape)

    @pymanopt.function.numpy(manifold)
    def cost(X):
        return -float(np.vdot(X, step.gram.matmat(X) + 2 * step.linear))

    @pymanopt.function.numpy(manifold)
    def gradient(X):
        return -2 * (step.gram.matmat(X) + step.linear)

    @pymanopt.function.numpy(manifold)
    def hessian(X, direction):
        return -2 * step.gram.matmat(direction)

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    smallest = tol * norm(step.model(step.start, step.product).gradient)
    kind = getattr(pymanopt.optimizers, optimizer)
    solver = kind(max_time=budget, min_gradient_norm=smallest, max_iterations=10_000, verbosity=0)
    return np.asfortranarray(solver.run(problem, initial_point=np.ascontiguousarray(step.start)).point)


SOLVERS: dict[str, Callable[[XStep, float], list[Point]]] = {
    "power": lambda step, budget: trace_of_steps(step, budget, accelerated=False),
    "accelerated": lambda step, budget: trace_of_steps(step, budget, accelerated=True),
    "newton": lambda step, budget: trace_of_runs(step, budget, run_newton),
    "pencf": lambda step, budget: trace_of_runs(step, budget, run_pencf),
    "pymanopt TR": lambda step, budget: trace_of_runs(
        step, budget, lambda s, t, b: run_pymanopt(s, t, b, "TrustRegions")
    ),
    "pymanopt CG": lambda step, budget: trace_of_runs(
        step, budget, lambda s, t, b: run_pymanopt(s, t, b, "ConjugateGradient")
    ),
}


def cost_to_reach(points: list[Point], target: float, unit: str) -> float:
    reached = [getattr(point, unit) for point in points if point.objective <= target]
    return max(min(reached), 1e-9) if reached else np.inf


def profiles(names: tuple[str, ...], budget: float, svg: str | None) -> None:
    """Print the profiles in products and seconds, and the share solved within 1.3 times the best."""
    costs: dict[tuple[str, float], list[list[float]]] = {}
    labels = []
    for step in x_steps(names, (1e-4, 1e-2, 1.0), (0.1, 0.5)):
        traces = {name: solve(step, budget) for name, solve in SOLVERS.items()}
        first = traces["power"][0].objective
        best = min(point.objective for points in traces.values() for point in points)
        labels.append(step.label)
        print(step.label, file=sys.stderr, flush=True)
        for unit in ("products", "seconds"):
            for accuracy in ACCURACIES:
                target = best + accuracy * (first - best)
                row = [cost_to_reach(points, target, unit) for points in traces.values()]
                costs.setdefault((unit, accuracy), []).append(row)
    print(f"{len(labels)} X-steps, at most {budget:g} CPU s a run\n")
    for (unit, accuracy), rows in costs.items():
        table = np.array(rows)
        ratios = table / np.where(np.isfinite(table.min(axis=1)), table.min(axis=1), 1)[:, None]
        print(f"\nShare of problems solved to {accuracy:g} within a factor of the best, in {unit}\n")
        print("| solver | " + " | ".join(f"{factor:g}×" for factor in FACTORS) + " | solved |")
        print("|---|" + "---|" * (len(FACTORS) + 1))
        for column, name in enumerate(SOLVERS):
            shares = [np.mean(ratios[:, column] <= factor * (1 + 1e-9)) for factor in FACTORS]
            solved = np.mean(np.isfinite(table[:, column]))
            print(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + f" | {solved:.2f} |")
    if svg:
        draw(costs, svg)


def draw(costs: dict[tuple[str, float], list[list[float]]], path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(ACCURACIES), figsize=(10, 5.5), sharex=True, sharey=True)
    for (unit, accuracy), rows in costs.items():
        axis = axes[("products", "seconds").index(unit), ACCURACIES.index(accuracy)]
        table = np.array(rows)
        ratios = table / table.min(axis=1)[:, None]
        for column, name in enumerate(SOLVERS):
            finite = np.sort(ratios[np.isfinite(ratios[:, column]), column])
            shares = np.arange(1, finite.size + 1) / len(rows)
            axis.step(finite, shares, where="post", label=name, linewidth=1.2)
        axis.set(xscale="log", xlim=(1, 300), ylim=(0, 1.02), title=f"to {accuracy:g}, {unit}")
    axes[0, 0].legend(fontsize=7)
    figure.supxlabel("factor of the best solver")
    figure.supylabel("share of problems solved")
    figure.tight_layout()
    figure.savefig(path)


def rivals(data: np.ndarray, r: int, m: int) -> dict[str, float]:
    """Return the variance carried by r features of each rival, and of the constrained mode."""
    from abess import SparsePCA

    gram = gram_operator(data)
    spectrum = gram.eigenpairs(m)
    rng = np.random.default_rng(0)
    draws = [rng.choice(data.shape[1], r, replace=False) for _ in range(200)]
    go = np.argsort(-(spectrum.vectors**2 @ spectrum.values))[:r]
    single = SparsePCA(support_size=r).fit(data, is_normal=False)
    chosen = np.flatnonzero(np.any(np.reshape(single.coef_, (data.shape[1], -1)) != 0, axis=1))[:r]
    began = time.process_time()
    fitted = DSCOFS(r, n_components=m, entry_sparsity=None, mode="constrained").fit(data)
    seconds = time.process_time() - began
    penalty = DSCOFS(r, n_components=m, entry_sparsity=None, tol=1e-7, max_iter=1000).fit(data)
    return {
        "constrained": captured_variance(gram, np.flatnonzero(fitted.support_), m),
        "penalty": captured_variance(gram, np.flatnonzero(penalty.support_), m),
        "FSPCA": improve_by_proxy(gram, go, m)[1],
        "abess": captured_variance(gram, chosen, m),
        "200 random": max(captured_variance(gram, support, m) for support in draws),
        "swaps": improve_by_swaps(gram, draws[0], m, max_rounds=10)[1],
        "bound": variance_upper_bound(gram, r, m),
        "seconds": seconds,
    }


def constrained(names: tuple[str, ...]) -> None:
    """Print each method's variance relative to that of the constrained mode, and the proven gap."""
    header = ("constrained", "penalty", "FSPCA", "abess", "200 random", "swaps")
    print("| data | r | " + " | ".join(header) + " | gap | CPU s |")
    print("|---|---|" + "---|" * (len(header) + 2))
    for name in names:
        bunch = load_dataset(name)
        data, m = np.asarray(bunch.data, dtype=np.float64), np.unique(bunch.target).size
        for r in (30, 100):
            found = rivals(data, r, m)
            shares = " | ".join(f"{found[key] / found['constrained']:.4f}" for key in header)
            gap = optimality_gap(found["constrained"], found["bound"])
            print(f"| {name} | {r} | {shares} | {100 * gap:.1f} % | {found['seconds']:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("profiles", "constrained"))
    parser.add_argument("--quick", action="store_true", help="four small data sets and short runs")
    parser.add_argument("--svg", help="file to draw the profiles to")
    arguments = parser.parse_args()
    names = SETS[:4] if arguments.quick else SETS
    if arguments.part == "profiles":
        profiles(names, 0.2 if arguments.quick else 2.0, arguments.svg)
    else:
        constrained(names)


if __name__ == "__main__":
    main()
