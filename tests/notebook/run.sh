#!/bin/sh
# Installs the wheel as a person would, and drives notebooks in Chromium: Debian's Jupyter, and JupyterLab's and VS Code's parts
# from npm, which are skipped with a sentence if npm hasn't got them: tests/notebook/run.sh
# Makes the page first if it isn't built (scripts/browser.sh), which takes long.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
work=$root/build/notebook
scripts/wheel.sh "$work/wheel"
step "Packages"
install python3-venv python3-torch python3-jinja2 jupyter-notebook jupyter-nbconvert chromium procps
command -v npm >/dev/null || install nodejs npm
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" uninstall --quiet --yes decoderscope # forced to install it again, pip would look for Jinja, which is there
"$work/venv/bin/pip" install --quiet --no-index "$work"/wheel/decoderscope-*.whl
"$work/venv/bin/python" -m ipykernel install --sys-prefix >/dev/null 2>&1 # Jupyter would start the system's Python
mkdir -p "$work/tests"
cp tests/notebook/*.mjs tests/notebook/*.js tests/notebook/*.py tests/notebook/package.json tests/browser/visitor.mjs \
    tests/browser/server.mjs notebook/example.ipynb "$work/tests/"
step "The package without a notebook"
(cd "$work/tests" && "$work/venv/bin/python" -m unittest --quiet test_package)
step "Notebooks in Chromium"
cd "$work/tests"
# In CI (SLOW_MACHINE), JupyterLab's and VS Code's parts are left out: half a gigabyte. Their tests say so.
npm_install --ignore-scripts ${SLOW_MACHINE:+--omit=optional} || { echo "No notebook was opened in Chromium." >&2 && exit 0; }
vscode=node_modules/code-server/lib/vscode
[ ! -d $vscode ] || (cd $vscode && quietly npm install --omit=dev --ignore-scripts --no-audit --no-fund) || true # its test says so
PYTHON=$work/venv/bin/python
export PYTHON
node --test --test-concurrency=1 test_policies.mjs test_frames.mjs test_notebook.mjs test_lab.mjs test_vscode.mjs
