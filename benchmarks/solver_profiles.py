"""Performance profiles of the solvers: whole fits of DSCOFS, and its X-step alone.

``python benchmarks/solver_profiles.py fits|x-steps [--quick] [--svg FILE]`` solves the same problems with
every solver and prints, as Markdown, which share of them each solves within a factor of the best.
``small-penalties`` counts the products to a small gradient where the power step crawls. Run with one BLAS
thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from common import REAL_SETS, data_source, load

from ufselect.gram import gram_operator
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import (
    DoubleSparsePCA,
    PamState,
    PenCF,
    PowerStep,
    ProximalAlternatingMinimisation,
    RotatedPowerStep,
    StiefelNewton,
    extrapolation,
    stiefel_pencf,
)
from ufselect.solvers.counting import CountingGram
from ufselect.solvers.pam import EARLY_ONSET, XSolver
from ufselect.solvers.start import Start, best_random_start, pca_start
from ufselect.solvers.stiefel_model import StiefelModel, norm
from ufselect.solvers.x_solvers import INEXACT, make_x_solver

QUICK_SETS = ("lung_discrete", "usps")
N_ROWS = 100
MAX_PRODUCTS = 3000
ACCURACIES = (1e-3, 1e-6, 1e-8)
FACTORS = (1.0, 1.3, 2.0, 5.0, 20.0, 100.0)
LADDER = (1e-1, 1e-3, 1e-5, 1e-8)
REST = 1e-13  # relative decrease of the objective that ends a fit
SHORT, REPEATS = 0.2, 3  # runs of fewer CPU seconds are timed so many times
TAU = 1e-3  # the default of DSCOFS, in units of the largest eigenvalue


@dataclass(frozen=True)
class Problem:
    """A problem on one data set and where to start on it."""

    label: str
    gram: CountingGram
    penalised: DoubleSparsePCA
    start: Start


@dataclass(frozen=True)
class Point:
    """What a solver had reached after so many products and CPU seconds."""

    products: int
    seconds: float
    objective: float


Solver = Callable[[Problem, float], list[Point]]


def problems(names: tuple[str, ...], mus: tuple[float, ...]) -> Iterator[Problem]:
    for name in names:
        data, m = load(name)
        gram = CountingGram(gram_operator(data))
        spectrum = gram.eigenpairs(m)
        unit = float(spectrum.values[0])
        starts = {
            "pca": pca_start(spectrum),
            "random": best_random_start(gram, m, 10, np.random.default_rng(0)),
        }
        for kind, start in starts.items():
            start = replace(start, point=np.asfortranarray(start.point), product=gram.matmat(start.point))
            for alpha in (0.1, 0.5):
                entries = max(m, int(alpha * start.point.size))
                for mu in mus:
                    penalised = DoubleSparsePCA(
                        gram=gram,
                        n_rows=N_ROWS,
                        n_entries=entries,
                        mu_row=mu * unit,
                        mu_entry=mu * unit,
                        tau=TAU * unit,
                        memory=TAU,
                        unit=unit,
                        leading_variance=float(spectrum.values.mean()),
                    )
                    yield Problem(f"{name} μ={mu:g} α={alpha:g} {kind}", gram, penalised, start)


# Whole fits


def trace_of_fit(
    problem: Problem, budget: float, choose: Callable[[DoubleSparsePCA], XSolver]
) -> list[Point]:
    """Run a fit until its objective comes to rest, noting every iteration."""
    problem.gram.n_products = 0
    began = time.process_time()
    x_solver = choose(problem.penalised)
    method = ProximalAlternatingMinimisation(problem.penalised, problem.start, x_solver, EARLY_ONSET)
    state, points = method.init(), []
    while True:
        seconds = time.process_time() - began
        points.append(Point(problem.gram.n_products, seconds, state.objective))
        if seconds > budget:
            return points
        moved = method.step(state)
        if state.objective - moved.objective <= REST * abs(state.objective):
            return points
        state = moved


class PlainPower(PowerStep):
    extrapolates = False


class PymanoptStep:
    """The X-step by one of pymanopt's optimizers."""

    extrapolates = False

    def __init__(self, optimizer: str, budget: float) -> None:
        self.optimizer = optimizer
        self.budget = budget

    def solve(self, problem: DoubleSparsePCA, state: PamState, trial: np.ndarray) -> np.ndarray:
        linear = problem.linear(state.X, state.Y, state.Z)
        model = StiefelModel.at(problem.gram, linear, state.X, state.product)
        return stiefel.project(run_pymanopt(model, INEXACT, self.budget, self.optimizer))


def fit_solvers(budget: float) -> dict[str, Solver]:
    kinds: dict[str, Callable[[DoubleSparsePCA], XSolver]] = {
        "auto (default)": partial(make_x_solver, "auto"),
        "power": lambda problem: PlainPower(),
        "accelerated": lambda problem: PowerStep(),
        "rotated": lambda problem: RotatedPowerStep(),
        "newton": partial(make_x_solver, "newton"),
        "pencf": lambda problem: PenCF(),
        "pymanopt TR": lambda problem: PymanoptStep("TrustRegions", budget),
        "pymanopt CG": lambda problem: PymanoptStep("ConjugateGradient", budget),
    }
    return {name: partial(trace_of_fit, choose=choose) for name, choose in kinds.items()}


# The first X-step of each fit


def x_step(problem: Problem) -> StiefelModel:
    """Return the X-step at the start with the Y and Z that belong to it."""
    X, penalised = problem.start.point, problem.penalised
    pull = penalised.pull(
        entry_sparse.project(X, penalised.n_entries), row_sparse.project(X, penalised.n_rows)
    )
    return StiefelModel.at(problem.gram, pull, X, problem.start.product)


def trace(
    problem: Problem, budget: float, path: Callable[[StiefelModel], Iterator[StiefelModel]]
) -> list[Point]:
    """Note every point of a run."""
    problem.gram.n_products = 0
    began = time.process_time()
    first = x_step(problem)
    points = [Point(0, 0.0, first.objective)]
    for model in path(first):
        points.append(Point(problem.gram.n_products, time.process_time() - began, model.objective))
        if points[-1].seconds > budget:
            break
    return points


def power_steps(model: StiefelModel, *, accelerated: bool, rotated: bool) -> Iterator[StiefelModel]:
    """Make power steps, plain or extrapolated with the safeguard, until the gradient has all but vanished."""
    target = 1e-10 * norm(model.gradient)
    if rotated:
        model = model.rotated()
        yield model
    trail = None
    while norm(model.gradient) > target:
        image = model.ascent
        trial = extrapolation.extrapolate(trail, image) if trail is not None else image
        X = stiefel.project(trial)
        if rotated:
            X = stiefel.turned_towards(X, model.linear)
        moved = StiefelModel.at(model.gram, model.linear, X, model.gram.matmat(X))
        if trial is not image and moved.objective > model.objective:
            trail = None
            continue
        if accelerated:
            trail = (
                extrapolation.begin(trial, moved.ascent, image)
                if trail is None
                else trail.follow(trial, moved.ascent, image, is_smooth=True)
            )
        if moved.objective >= model.objective:
            break
        model = moved
        yield model


def trace_of_runs(
    problem: Problem, budget: float, run: Callable[[Problem, StiefelModel, float, float], np.ndarray]
) -> list[Point]:
    """Run a solver afresh to finer and finer tolerances until it takes more than its budget."""
    points = [Point(0, 0.0, x_step(problem).objective)]
    for tol in LADDER:
        problem.gram.n_products = 0
        began = time.process_time()
        first = x_step(problem)
        X = stiefel.project(run(problem, first, tol, budget))
        seconds, products = time.process_time() - began, problem.gram.n_products
        reached = StiefelModel.at(problem.gram, first.linear, X, problem.gram.matmat(X))
        points.append(Point(products, seconds, reached.objective))
        if seconds > budget:
            break
    return points


def run_pencf(problem: Problem, model: StiefelModel, tol: float, budget: float) -> np.ndarray:
    stiefel_pencf.RELATIVE_TOL = tol
    bare = replace(problem.penalised, mu_row=0.0, mu_entry=0.0, tau=0.0)
    state = PamState(model.X, model.X, model.X, model.product, model.ascent, np.inf, None, None)
    return PenCF().solve(bare, state, state.ascent)


def run_pymanopt(model: StiefelModel, tol: float, budget: float, optimizer: str) -> np.ndarray:
    import pymanopt

    manifold = pymanopt.manifolds.Stiefel(*model.X.shape)

    @pymanopt.function.numpy(manifold)
    def cost(X):
        return -float(np.vdot(X, model.gram.matmat(X) + 2 * model.linear))

    @pymanopt.function.numpy(manifold)
    def gradient(X):
        return -2 * (model.gram.matmat(X) + model.linear)

    @pymanopt.function.numpy(manifold)
    def hessian(X, direction):
        return -2 * model.gram.matmat(direction)

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    solver = getattr(pymanopt.optimizers, optimizer)(
        max_time=budget, min_gradient_norm=tol * norm(model.gradient), max_iterations=10_000, verbosity=0
    )
    return np.asfortranarray(solver.run(task, initial_point=np.ascontiguousarray(model.X)).point)


PATHS: dict[str, Callable[[StiefelModel], Iterator[StiefelModel]]] = {
    "power": partial(power_steps, accelerated=False, rotated=False),
    "accelerated": partial(power_steps, accelerated=True, rotated=False),
    "rotated": partial(power_steps, accelerated=True, rotated=True),
    "newton": StiefelNewton(tol=1e-10).path,
}


def x_step_solvers(budget: float) -> dict[str, Solver]:
    return {name: partial(trace, path=path) for name, path in PATHS.items()} | {
        "pencf": partial(trace_of_runs, run=run_pencf),
        "pymanopt TR": partial(trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "TrustRegions")),
        "pymanopt CG": partial(
            trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "ConjugateGradient")
        ),
    }


def small_penalties(name: str = "warppie10p") -> None:
    """Print the products with S until the gradient of an X-step is 1e-8 of the first one, or at rounding."""
    data, m = load(name)
    gram = CountingGram(gram_operator(data))
    starts = {
        "PCA": pca_start(gram.eigenpairs(m)).point,
        "random": best_random_start(gram, m, 10, np.random.default_rng(0)).point,
    }
    print("| start | μ | " + " | ".join(f"{path} | reached" for path in PATHS) + " |")
    print("|---|---|" + "---|" * (2 * len(PATHS)))
    for kind, X in starts.items():
        for mu in (1.0, 100.0, 1e4):
            weight = mu * gram.scale**-2
            pull = weight * (entry_sparse.project(X, X.size // 50) + row_sparse.project(X, N_ROWS))
            first = StiefelModel.at(gram, pull, X, gram.gram.matmat(X))
            cells = []
            for path in PATHS.values():
                gram.n_products, reached = 0, 1.0
                for model in path(first):
                    reached = norm(model.gradient) / norm(first.gradient)
                    if reached <= 1e-8 or gram.n_products >= MAX_PRODUCTS:
                        break
                cells.append(f"{gram.n_products} | {reached:.0e}")
            print(f"| {kind} | {mu:g} | " + " | ".join(cells) + " |", flush=True)


# Profiles


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
