#!/bin/sh
# Installs the wheel as a person would, and drives Debian's Jupyter in Chromium: tests/notebook/run.sh
# Makes the page first if it isn't built (scripts/browser.sh), which takes long.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
work=$root/build/notebook
scripts/wheel.sh "$work/wheel"
step "Packages"
install python3-venv python3-torch jupyter-notebook jupyter-nbconvert chromium
command -v npm >/dev/null || install nodejs npm
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index --force-reinstall "$work"/wheel/decoderscope-*.whl
"$work/venv/bin/python" -m ipykernel install --sys-prefix >/dev/null 2>&1 # Jupyter would start the system's Python
mkdir -p "$work/tests"
cp tests/notebook/*.mjs tests/notebook/*.py tests/browser/visitor.mjs tests/browser/server.mjs tests/browser/package.json "$work/tests/"
cp notebook/example.ipynb "$work/tests/"
step "The package without a notebook"
(cd "$work/tests" && "$work/venv/bin/python" -m unittest --quiet test_package)
step "Jupyter in Chromium"
cd "$work/tests"
quietly npm install --no-audit --no-fund
PYTHON=$work/venv/bin/python
export PYTHON
node --test --test-concurrency=1 test_policies.mjs test_notebook.mjs
