"""What people type, turned into values; and the options that several commands share."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

DATA_HELP = (
    "A csv, tsv (also compressed), xlsx, parquet, npy, npz, mat or h5ad file, a directory of parquet parts, "
    "a 10x folder, - for standard input, or the name of a data set (see ufselect datasets)."
)
SCALE_CHOICES = ("auto", "standard", "none")
NORMALIZE_CHOICES = ("none", "log")
CATEGORICAL_CHOICES = ("onehot",)
IMPUTE_CHOICES = ("median", "drop", "keep")
GOALS = ("clusters", "rebuild")


def _methods(incomplete: str) -> list[str]:
    """Complete the name of a method."""
    return [name for name in ("auto", *listed_methods()) if name.startswith(incomplete)]


def listed_methods() -> list[str]:
    """Return the names in the registry's list without importing it, which would take seconds."""
    spec = find_spec("ufselect.registry")
    assert spec is not None
    assert spec.origin is not None
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SELECTORS":
            return [ast.unparse(name) for name in getattr(node.value, "elts", [])]
    return []


def _data(incomplete: str) -> list[str]:
    """Complete the name of a file or of a data set."""
    from ufselect.datasets.catalogue import names

    path = Path(incomplete)
    folder = path if incomplete.endswith("/") else path.parent
    files = [str(file) for file in folder.glob("*") if str(file).startswith(incomplete)]
    return sorted(files) + [name for name in names() if name.startswith(incomplete)]


def _among(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


Data = Annotated[str, typer.Argument(help=DATA_HELP, autocompletion=_data, show_default=False)]
DataOrRecord = Annotated[str | None, typer.Argument(help=DATA_HELP, autocompletion=_data, show_default=False)]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="auto tries several without labels and takes the best; or DSCOFS, LaplacianScore, …",
        autocompletion=_methods,
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="A method to compare; may be repeated. Without it all but AutoSelector, ConstrainedDSCOFS, "
        "PartitionSelector and TSFS.",
        autocompletion=_methods,
    ),
]
StudyMethods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="A method; may be repeated. Those of the paper and ours without it.",
        autocompletion=_methods,
    ),
]
Goal = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="clusters|rebuild",
        help="What the columns are for: finding groups of rows, or rebuilding the other columns.",
        autocompletion=_among(GOALS),
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for scripts.")]
IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column of row ids.")]
LabelColumn = Annotated[
    str | None,
    typer.Option("--labels", metavar="COLUMN", help="Column of classes; never used for the selection."),
]
Impute = Annotated[
    str | None,
    typer.Option(
        "--impute",
        metavar="median|drop|keep",
        help="Missing values: fill by the column's median, leave such columns out, or keep them for a method "
        "that works around them, such as DSCOFS; else an error.",
        autocompletion=_among(IMPUTE_CHOICES),
    ),
]
BatchColumn = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="COLUMN",
        help="Column with the batch of each row, such as plate or donor; differences between batches are not "
        "taken for structure.",
    ),
]
WeightColumn = Annotated[
    str | None,
    typer.Option("--weights", metavar="COLUMN", help="Column that says how much each row counts."),
]
Guess = Annotated[
    bool, typer.Option("--guess/--no-guess", help="Recognise id and label columns by names and values.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help='Mark between fields of a text file: "tab", "blanks" for runs of them, …',
    ),
]
Decimal = Annotated[str | None, typer.Option("--decimal", metavar=".|,", help="Decimal mark of a text file.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a text file begins with names.", show_default="found out"
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="TOKEN", help="A further word that means a missing value; may be repeated."),
]
Comment = Annotated[
    str | None, typer.Option("--comment", metavar="MARK", help="What begins a remark in a text file, as #.")
]
Transpose = Annotated[bool, typer.Option("--transpose", help="Rows of the file are the features.")]
Sheet = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an xlsx file.")]
Layer = Annotated[str | None, typer.Option("--layer", metavar="NAME", help="Layer of an h5ad file.")]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="auto|standard|none",
        help="standard: give every column mean 0 and variance 1 first. auto: if their units differ.",
        autocompletion=_among(SCALE_CHOICES),
    ),
]
Normalize = Annotated[
    str,
    typer.Option(
        "--normalize",
        metavar="none|log",
        help="log: for raw counts, bring rows to one total and take logarithms first.",
        autocompletion=_among(NORMALIZE_CHOICES),
    ),
]
Count = Annotated[
    str,
    typer.Option(
        "-k",
        "--features",
        metavar="K",
        help="How many features to keep: 50, a share: 0.1 or 10%, or auto: enough to rebuild the others, "
        "with --for rebuild or --method RebuildSelector or GreedyProjection.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="Choose this column in any case: a name, a pattern as 'HLA-*', or a file with one a line; "
        "may be repeated.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="COLUMN",
        help="Never choose this column: a name, a pattern as 'MT-*', or a file with one a line; "
        "may be repeated.",
    ),
]
MaxCorrelation = Annotated[
    float,
    typer.Option(
        "--max-correlation",
        metavar="R",
        help="A column more correlated with a better one waits until no other is left; 1 for no limit.",
    ),
]
Categorical = Annotated[
    str | None,
    typer.Option(
        "--categorical",
        metavar="onehot",
        help="onehot: text columns with a few values become columns of zeros and ones, chosen together.",
        autocompletion=_among(CATEGORICAL_CHOICES),
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one a core.")]
Resamples = Annotated[
    int,
    typer.Option(
        "--resamples", min=0, help="Refits on 80 % of the rows, for the report's stability; 0 for none."
    ),
]
Parameter = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the method; may be repeated."),
]
OutputTable = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Write the reduced table here: .csv, .tsv (also .gz, .bz2, .xz, .zst), .parquet, .npz or .h5ad; "
        "- for standard output.",
    ),
]
ReportPage = Annotated[
    Path | None, typer.Option("--report", help="Write a page that explains the result (.html).")
]
RecordFile = Annotated[
    Path | None,
    typer.Option("--record", help="Write the record here; without it beside the output, ending in .json."),
]
RankingFile = Annotated[
    Path | None,
    typer.Option("--ranking", help="Write every column with its rank, score and fate here: .csv or .tsv."),
]
NamesFile = Annotated[
    Path | None, typer.Option("--names", help="Write the names of the chosen columns here, one a line.")
]
DropText = Annotated[
    bool, typer.Option("--drop-text", help="Leave text columns other than ids and labels out of the output.")
]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read a csv or parquet table in blocks instead of whole.",
        show_default="if it is large",
    ),
]


def count(text: str) -> int | float | str:
    """Return "50" as a count, "0.1" or "10%" as a share, and "auto" as it is.

    Raises
    ------
    typer.BadParameter
        If it is neither.
    """
    if text == "auto":
        return text
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise typer.BadParameter(
            f"{text!r} is neither a count such as 50, nor a share such as 0.1 or 10%, nor auto.",
            param_hint="-k",
        )
    if (isinstance(value, int) and value < 1) or (isinstance(value, float) and not 0 < value <= 1):
        raise typer.BadParameter(
            f"{text} must be a count of at least 1 or a share in (0, 1].", param_hint="-k"
        )
    return value


def parameters(pairs: list[str] | None) -> dict[str, Any]:
    """Return ``name=value`` pairs as parameters; words that are no literals are text.

    Raises
    ------
    typer.BadParameter
        If a pair has no "=".
    """
    found = {}
    for pair in pairs or []:
        name, mark, text = pair.partition("=")
        if not mark or not name.strip():
            raise typer.BadParameter(f"{pair!r} must be NAME=VALUE, as in mu_row=0.1.", param_hint="--param")
        found[name.strip()] = _literal(text.strip())
    return found


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def choice(value: str | None, choices: tuple[str, ...], option: str) -> None:
    """Refuse anything but one of the choices.

    Raises
    ------
    typer.BadParameter
        With the choices.
    """
    if value is not None and value not in choices:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}.", param_hint=option)


def mark(text: str | None) -> str | None:
    """Return a separator as typed; "tab" means a tab, "blanks" and a blank runs of blanks."""
    words = {"tab": "\t", r"\t": "\t", "blank": r"\s+", "blanks": r"\s+", " ": r"\s+"}
    return None if text is None else words.get(text.lower(), text)


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Return "28x23" as (28, 23).

    Raises
    ------
    typer.BadParameter
        If it has another form.
    """
    if text is None:
        return None
    rows, _, columns = text.lower().replace("×", "x").partition("x")
    if not (rows.isdigit() and columns.isdigit() and int(rows) and int(columns)):
        raise typer.BadParameter(f"{text!r} must be ROWSxCOLUMNS, as in 28x23.", param_hint="--image")
    return int(rows), int(columns)


def jobs(value: int) -> int:
    """Refuse a number of processes that means nothing.

    Raises
    ------
    typer.BadParameter
        If it is 0 or below -1.
    """
    if value == 0 or value < -1:
        raise typer.BadParameter(f"{value} must be at least 1, or -1 for one a core.", param_hint="-j")
    return value


def whole_or_auto(text: str, option: str) -> int | str:
    """Return a count as an integer, or "auto".

    Raises
    ------
    typer.BadParameter
        If it is neither.
    """
    if text == "auto":
        return text
    if not text.isdigit() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is neither a number of at least 1 nor auto.", param_hint=option)
    return int(text)
