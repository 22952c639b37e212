"""Store a study's tables and figures where the documentation reads them."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "_static" / "reproduction"


def publish(study: Path) -> None:
    """Replace the stored results by those in the folder of a study."""
    for folder, suffix in ((RESULTS, "md"), (PICTURES, "png")):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in (study / ("tables" if suffix == "md" else "figures")).glob(f"*.{suffix}"):
            (folder / path.name).write_bytes(path.read_bytes() if suffix == "md" else small(path))


def small(picture: Path, width: int = 1100, colours: int = 64) -> bytes:
    """Return a drawing at the width of a page and with few colours, as PNG."""
    from PIL import Image

    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.quantize(colours, method=Image.Quantize.MEDIANCUT).save(out, "PNG", optimize=True)
    return out.getvalue()
