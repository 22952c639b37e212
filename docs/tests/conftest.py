"""Tests of the documentation, run where it is built: ``pytest docs/tests`` with the extra docs."""

from __future__ import annotations

import sys
from pathlib import Path

# Modules that stand beside the pages, as Sphinx imports them
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
