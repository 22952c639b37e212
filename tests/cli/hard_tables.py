"""Tables that hurt, made by code: name → bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np

ROWS, FEATURES = 30, "abcde"
VALUES = np.random.default_rng(7).standard_normal((ROWS, len(FEATURES))).round(2)
WIDE = np.random.default_rng(8).standard_normal((6, 60)).round(3)


def csv(columns: dict[str, list[str]], separator: str = ",", end: str = "\n") -> str:
    """Return a text table from its columns."""
    lines = [separator.join(columns), *(separator.join(row) for row in zip(*columns.values(), strict=True))]
    return end.join(lines) + end


def numbers(decimal: str = ".") -> dict[str, list[str]]:
    """Return five columns of numbers with two decimals."""
    return {name: [f"{v:.2f}".replace(".", decimal) for v in VALUES[:, j]] for j, name in enumerate(FEATURES)}


def with_first(name: str, cells: list[str]) -> bytes:
    return csv({name: cells, **numbers()}).encode()


def scaled(*factors: float) -> bytes:
    columns = {f"v{j}": [f"{f * v:.4f}" for v in VALUES[:, j]] for j, f in enumerate(factors)}
    return csv(columns).encode()


def instead(cell: str, *rows: int) -> bytes:
    columns = numbers()
    for row in rows:
        columns["a"][row] = cell
    return csv(columns).encode()


def aligned(decimal: str = ".") -> str:
    """Return the numbers between runs of blanks, as programs that print arrays write them."""
    return "".join(" ".join(f"{v:>9.2f}".replace(".", decimal) for v in row) + "\n" for row in VALUES)


def shortened(*rows: int) -> bytes:
    """Return the plain table, some lines of which end before the last field."""
    lines = csv(numbers()).splitlines()
    for row in rows:
        lines[row] = lines[row].rpartition(",")[0]
    return ("\n".join(lines) + "\n").encode()


def _nearly_equal() -> np.ndarray:
    """Return six independent columns of nearly equal variance."""
    noise = np.random.default_rng(3).standard_normal((ROWS * 4, 6))
    basis = np.linalg.qr(noise - noise.mean(axis=0))[0]
    return (basis * [1.0, 1.001, 1.002, 1.003, 1.004, 1.005]).T * 10


def tables() -> dict[str, bytes]:
    """Return all files."""
    plain = csv(numbers())
    counter = [str(i) for i in range(ROWS)]
    return {
        "plain.csv": plain.encode(),
        # ids and labels that must stay text
        "zeros.csv": with_first("id", [f"{i:05}" for i in range(ROWS)]),
        "e.csv": with_first("id", [f"{i}E{i}" for i in range(ROWS)]),
        "nan_id.csv": with_first("id", ["NA", "null", "nan", "-", "?", *map(str, range(5, ROWS))]),
        "na.csv": with_first("country", ["NA", "US", "DE", *(f"C{i}" for i in range(3, ROWS))]),
        "dup_id.csv": with_first("id", ["x"] * ROWS),
        "big19.csv": with_first("id", [str(9007199254740993 + i) for i in range(ROWS)]),
        "lab0.csv": csv(
            {
                "barcode": [f"s{i}" for i in range(ROWS)],
                **numbers(),
                "class": [f"0{i % 3}" for i in range(ROWS)],
            }
        ).encode(),
        "labgap.csv": csv(
            {**numbers(), "class": ["" if i == 4 else str(i % 3) for i in range(ROWS)]}
        ).encode(),
        "diagnosis.csv": csv({**numbers(), "diagnosis": [str(i % 2) for i in range(ROWS)]}).encode(),
        "notes.csv": csv(
            {
                "id": [f"s{i}" for i in range(ROWS)],
                **numbers(),
                "note": ["a  b", '"q, r"', *["ü"] * (ROWS - 2)],
            }
        ).encode(),
        # row counters, dates and a coordinate called y
        "unn.csv": with_first("Unnamed: 0", counter),
        "pasid.csv": with_first("PassengerId", [str(i + 1) for i in range(ROWS)]),
        "nr.csv": with_first("Nr", [str(i + 1) for i in range(ROWS)]),
        "row.csv": with_first("whatever", [str(3 * i + 100) for i in range(ROWS)]),
        "blank_name.csv": with_first("", counter),
        "xyz.csv": csv(
            {name: [str(int(v)) for v in 9 * VALUES[:, j]] for j, name in enumerate("xyzw")}
        ).encode(),
        "yyyymmdd.csv": with_first("when", [f"202401{1 + i % 28:02}" for i in range(ROWS)]),
        # units
        "one_large.csv": scaled(1, 1, 1, 1, 5000),
        "half_large.csv": scaled(1, 1, 1e6, 1e6, 1e6),
        "ratio20.csv": scaled(1, 1, 1, 20, 20),
        "ratio50.csv": scaled(1, 1, 1, 50, 50),
        "one_in_six.csv": csv(
            {
                **{f"v{j}": numbers()[name] for j, name in enumerate(FEATURES)},
                "v5": [f"{7 * v:.2f}" for v in np.roll(VALUES[:, 0], 7)],
            }
        ).encode(),
        # the two columns of largest variance reconstruct a little less than others do
        "near.csv": csv(
            {
                name: [f"{v:.5f}" for v in column]
                for name, column in zip("pqrstu", _nearly_equal(), strict=True)
            }
        ).encode(),
        # numbers as people write them
        "thou.csv": csv(
            {"a": [f'"{i + 1},000"' for i in VALUES[:, 0].argsort()], "b": numbers()["b"]}
        ).encode(),
        "thou_de.csv": csv(
            {"a": [f"{i + 100}.{500 + i}" for i in VALUES[:, 0].argsort()], "b": numbers(",")["b"]}, ";"
        ).encode(),
        "curr.csv": csv({"a": [f"${850772 - 7 * i * i}" for i in range(ROWS)], "b": numbers()["b"]}).encode(),
        "pct.csv": csv({"a": [f"{v}%" for v in numbers()["a"]], "b": numbers()["b"]}).encode(),
        "minus.csv": csv({"a": [v.replace("-", "−") for v in numbers()["a"]], "b": numbers()["b"]}).encode(),
        "onecol_comma.csv": csv({"a": numbers(",")["a"]}).encode(),
        "bigint.csv": with_first("count", [str(2**60 + i % 7) for i in range(ROWS)]),
        "units_row.csv": plain.replace("\n", "\nkg,cm,s,K,mol\n", 1).encode(),
        "comment.csv": b"# made by machine X\n# second remark\n" + plain.encode(),
        "percent_comment.csv": plain.replace("\n", "\n% a remark\n", 1).encode(),
        # missing and odd values
        "miss_nd.csv": instead("ND", 3, 9),
        "miss_lt.csv": instead("<0.01", 3, 9),
        "miss_dash.csv": instead("--", 3, 9),
        "miss_own.csv": instead("nix", 3, 9),
        "huge.csv": instead("1e300", 3, 9),
        "const.csv": csv({**numbers(), "flat": ["7"] * ROWS}).encode(),
        "copies.csv": csv({**numbers(), "copy": numbers()["a"], "again": numbers()["a"]}).encode(),
        # structure
        "bom.csv": b"\xef\xbb\xbf" + plain.encode(),
        "utf16.csv": plain.encode("utf-16"),
        "crlf.csv": plain.replace("\n", "\r\n").encode(),
        "cr.csv": plain.replace("\n", "\r").encode(),
        "de.csv": csv(numbers(","), ";").encode(),
        "latin1.csv": csv({"Größe": numbers(",")["a"], "Länge": numbers(",")["b"]}, ";").encode("latin-1"),
        "years.csv": csv({str(2001 + j): numbers()[name] for j, name in enumerate(FEATURES)}).encode(),
        "nohead.csv": plain.partition("\n")[2].encode(),
        "ansi.csv": csv({"a\x1b[31mRED\x1b[0m": numbers()["a"], "b\x07": numbers()["b"]}).encode(),
        "long.csv": csv({"x" * 500: numbers()["a"], "b": numbers()["b"]}).encode(),
        "genes.tsv": csv(
            {
                "gene": [f"G{i}" for i in range(6)],
                **{f"S{j}": [f"{v}" for v in WIDE[:, j]] for j in range(60)},
            },
            "\t",
        ).encode(),
        # blanks between fields: printed arrays with and without names, R's tables, decimal commas
        "blanks.dat": aligned().encode(),
        "blanks_named.txt": b"a b c d e\n" + aligned().encode(),
        "blanks_remark.txt": b"# a b c d e\n" + aligned().encode(),
        "blanks_comma.txt": b"a b c d e\n" + aligned(",").encode(),
        "blanks_r.txt": (
            '"a" "b" "c" "d e"\n'
            + "".join(f'"s {i}" {" ".join(f"{v:.2f}" for v in row[:4])}\n' for i, row in enumerate(VALUES))
        ).encode(),
        "comma_blank.csv": csv({"my id": [f"s {i}" for i in range(ROWS)], "a": numbers()["a"]}).encode(),
        # lines that end too early: a number is lacking, or a text
        "short.csv": shortened(3, 7),
        "short_text.csv": csv({**numbers(), "note": ["x"] * ROWS}).replace(",x\n", "\n", 1).encode(),
        # size, damage and wrong names
        "empty.csv": b"",
        "header_only.csv": b"a,b,c\n",
        "onerow.csv": b"a,b\n1,2\n",
        "binary.csv": bytes(range(256)) * 20,
        "plain.csv.gz": gzip.compress(plain.encode(), mtime=0),
        "plain.csv.bz2": bz2.compress(plain.encode()),
        "plain.csv.xz": lzma.compress(plain.encode()),
        "cut.csv.gz": gzip.compress(plain.encode() * 50, mtime=0)[:200],
        "not.csv.gz": plain.encode(),
    }
