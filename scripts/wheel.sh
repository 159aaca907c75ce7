#!/bin/sh
# Builds the Python package for notebooks: a wheel without compiled code.
#   scripts/wheel.sh [FOLDER]     FOLDER: build/wheel unless given
# The viewer inside is the browser's page in one file; scripts/browser.sh makes it first if it isn't there.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
folder=${1:-build/wheel}
viewer=build/browser/viewer.html

[ -e "$viewer" ] || sh scripts/browser.sh
step "Building the wheel"
install python3-pip python3-setuptools python3-wheel
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
cp -r notebook/. "$staged"
rm -rf "$staged"/decoderscope/__pycache__
cp "$viewer" "$staged/decoderscope/viewer.html"
cp assets/recorder/record.py "$staged/decoderscope/recorder.py"
cp LICENSE "$staged"
sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/VERSION = "\1"/p' CMakeLists.txt >"$staged/decoderscope/version.py"
mkdir -p "$folder"
/usr/bin/python3 -m pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir "$folder" "$staged"
ls -l "$folder"/decoderscope-*-py3-none-any.whl
