"""The methods of a comparison: every selector that can run here, and the baselines of every table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ufselect.auto import AutoSelector
from ufselect.evaluation.keys import Params
from ufselect.evaluation.protocol import MODES, Problem, Protocol
from ufselect.evaluation.spaces import parameter_points
from ufselect.registry import all_selectors, missing_requirements
from ufselect.selectors import RNE
from ufselect.selectors.base import UnsupervisedSelector

ALL_FEATURES = "AllFeatures"
BEST_DRAW = "BestRandomSubset"
# Random subsets behind the baseline's mean; their spread over draws is small beside that over K-means runs.
N_DRAWS = 10
# Seeds of the best of many draws, apart from those of the mean.
FIRST_DRAW = 1000


@dataclass(frozen=True)
class Method:
    """One line of a comparison.

    Attributes
    ----------
    key, label : str
        Name in the store and name in tables.
    selector : type or None
        The class; None for all features.
    points : tuple of Params
        Parameter points to try.
    n_seeds : int
        Seeds over which a random method is averaged.
    starts_apart : bool
        Whether labels choose anew for each seed, and the mean is over the choices.
    """

    key: str
    label: str
    selector: type[UnsupervisedSelector] | None
    points: tuple[Params, ...]
    n_seeds: int = 1
    starts_apart: bool = False

    @property
    def is_nested(self) -> bool:
        """Whether one fit serves all counts."""
        if self.selector is RNE:  # only its number of components, where left open, follows the count
            return all("n_components" in point for point in self.points)
        return self.selector is not None and self.selector.is_nested

    @property
    def place(self) -> tuple[int, str]:
        """Where the method stands in a table: all features first."""
        return (-1 if self.selector is None else self.selector.order, self.label)


def choose_methods(
    names: Sequence[str] | None, mode: str, problem: Problem, protocol: Protocol
) -> list[Method]:
    """Return the methods of a comparison, the three baselines always among them.

    Parameters
    ----------
    names : sequence of str or None
        Class names or labels; None for every selector that can run here and takes no minutes for a fit.
    mode : {"fixed", "oracle", "auto"}
        Defaults, the search space of each method, or the label-free choice.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}.")
    classes = _resolve(names)
    methods = [Method(ALL_FEATURES, "All features", None, (Params(),))]
    if mode == "auto":
        classes.pop(AutoSelector.__name__, None)
        methods.append(_automatic(problem))
    methods += [_method(selector, mode, problem, protocol) for selector in classes.values()]
    if mode == "oracle":
        draws = tuple(Params({"random_state": FIRST_DRAW + k}) for k in range(protocol.max_points))
        methods.append(Method(BEST_DRAW, f"Random, best of {len(draws)}", classes["RandomSubset"], draws))
    return sorted(methods, key=lambda method: method.place)


def _resolve(names: Sequence[str] | None) -> dict[str, type[UnsupervisedSelector]]:
    known = all_selectors()
    baselines = {name: selector for name, selector in known.items() if selector.is_baseline}
    if names is None:
        usual = {n: c for n, c in known.items() if not c.on_request and not missing_requirements(c)}
        return {**baselines, **usual}
    by_word = {word.lower(): name for name, cls in known.items() for word in (name, cls.label)}
    chosen = {}
    for word in names:
        if word == ALL_FEATURES:
            continue
        name = by_word.get(word.lower())
        if name is None:
            raise ValueError(f"Unknown method {word!r}; known are {', '.join(known)}.")
        missing = missing_requirements(known[name])
        if missing:
            raise ValueError(
                f"{name} needs {', '.join(missing)}, which is not installed; install or omit it."
            )
        chosen[name] = known[name]
    return {**baselines, **chosen}


def _method(selector: type[UnsupervisedSelector], mode: str, problem: Problem, protocol: Protocol) -> Method:
    name = selector.__name__
    points = parameter_points(selector, problem, protocol.max_points) if mode == "oracle" else (Params(),)
    starts = 1 if mode == "oracle" else protocol.n_starts
    seeds = N_DRAWS if name == "RandomSubset" else starts
    return Method(name, selector.label, selector, tuple(points), seeds)


def random_start(method: Method) -> Method:
    """Return a method at its defaults but from random starts, averaged over several."""
    return replace(
        method,
        key=f"{method.key}RandomStart",
        label=f"{method.label}, random start",
        points=(Params({"init": "random"}),),
    )


def _automatic(problem: Problem) -> Method:
    points = (Params({"n_clusters": problem.n_classes}),)
    return Method("AutoSelector", "AutoSelector", AutoSelector, points)


def accepts(selector: type[UnsupervisedSelector], parameter: str) -> bool:
    """Tell whether a selector has a parameter of this name."""
    return parameter in inspect.signature(selector).parameters


def is_random(selector: type[UnsupervisedSelector], params: Mapping[str, Any]) -> bool:
    """Tell whether a fit with these parameters depends on a seed that they leave open."""
    if "random_state" in params or not accepts(selector, "random_state"):
        return False
    return selector.is_stochastic or params.get("init") == "random"
