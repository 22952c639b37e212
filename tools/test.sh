#!/bin/sh
# Install the package with what its tests need, and run them: all set-up that a fresh machine with Python ≥ 3.11 needs.
set -eu
cd "$(dirname "$0")/.."
python3 -m venv .venv
.venv/bin/pip install --quiet ".[test]"
exec .venv/bin/pytest -n 2 "$@"
