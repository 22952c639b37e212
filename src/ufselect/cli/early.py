"""Mistakes that show before anything heavy is imported or read."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from ufselect.exceptions import TableError

# parameters of a choice among methods that serve clusters alone, in the words of a terminal
OF_CLUSTERS = {"n_clusters": "a number of them", "clusterer": "clusterer"}


def check_data(name: str) -> None:
    """Refuse a table that is neither a file nor a data set.

    Raises
    ------
    TableError
        With the nearest name.
    """
    from ufselect.datasets.catalogue import names

    if name == "-" or Path(name).exists() or name in names():
        return
    close = get_close_matches(name.lower(), names(), n=1)
    advice = f"did you mean the data set {close[0]}?" if close else "check the name and the folder."
    raise TableError(f"There is no file {name}; {advice}")


def check_files(
    files: Mapping[str, Path | None], force: bool, data: str | None, piped: str | None = None
) -> None:
    """Refuse outputs, given by their options, that could not be written.

    Raises
    ------
    typer.BadParameter
        If another option than ``piped`` is to write to standard output.
    """
    from ufselect.io.files import check_outputs

    for option, path in files.items():
        if str(path) == "-" and option != piped:
            raise typer.BadParameter(
                "it needs the name of a file; standard output takes only the table of select, tune and apply "
                "(-o -).",
                param_hint=option,
            )
    named = [path for path in files.values() if path is not None and str(path) != "-"]
    check_outputs(named, force, None if data is None else Path(data))


def check_selection_files(
    table: Path | None,
    report: Path | None,
    record: Path | None,
    ranking: Path | None,
    names: Path | None,
    *,
    force: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Refuse outputs of a selection that could not be written, or would mix in one stream."""
    check_stream(as_json, table)
    files = {"-o": table, "--report": report, "--record": record, "--ranking": ranking, "--names": names}
    check_files(files, force, data, piped="-o")


def check_stream(as_json: bool, table: Path | None) -> None:
    """Refuse to mix JSON and a table in one stream.

    Raises
    ------
    typer.BadParameter
        If both are to go to standard output.
    """
    if as_json and str(table) == "-":
        raise typer.BadParameter(
            "-o - writes the table to standard output too; give -o a file, or --record one for the JSON.",
            param_hint="--json",
        )


def check_goal(
    method: str, count: Any, goal: str | None, parameters: Mapping[str, Any], categorical: str | None
) -> None:
    """Refuse what a choice among methods cannot do for its goal, or would ignore.

    Raises
    ------
    typer.BadParameter
        With what to give instead.
    """
    if method.lower() not in ("auto", "autoselector"):
        return
    rebuilds = (goal or parameters.get("goal")) == "rebuild"
    if count == "auto" and not rebuilds:
        raise typer.BadParameter(
            "auto finds the number of columns for --for rebuild alone; give a number, or add --for rebuild.",
            param_hint="-k",
        )
    if count == "auto" and categorical is not None:
        raise typer.BadParameter(
            "auto and --categorical go together with --method RebuildSelector alone; name it, or give a "
            "number.",
            param_hint="-k",
        )
    ignored = [word for name, word in OF_CLUSTERS.items() if rebuilds and name in parameters]
    if ignored:
        raise typer.BadParameter(
            f"rebuild looks for no groups, so {ignored[0]} has no effect; leave one of them out.",
            param_hint="--for",
        )
