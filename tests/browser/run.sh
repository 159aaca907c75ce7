#!/bin/sh
# Builds the page with its tests; runs the engine's tests under node, then opens the page in Chromium and Firefox, and
# compares its pictures with those of the desktop program's window, if that is built.
# tests/browser/run.sh [SITE]: with a SITE that is built already, the pages' tests alone.
# DESKTOP=PROGRAM: the desktop program, build/release/decoderscope unless given. It must be of the same sources.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
work=$root/build/browser
site=${1:-}
if [ -z "$site" ]; then
    site=$work/site
    DECODERSCOPE_BROWSER_TESTS=ON scripts/browser.sh "$site"
fi
install chromium firefox-esr xvfb xdotool
command -v npm >/dev/null || install nodejs npm
# Beside the packages that they import, since a module looks for them from where it lies.
mkdir -p "$work/tests"
cp tests/browser/*.mjs tests/browser/package.json "$work/tests/"
cd "$work/tests"
# shellcheck disable=SC2119 # all that package.json names
npm_install || { echo "The page was not opened in Chromium and Firefox." >&2 && exit 0; }
cd "$root"
desktop=${DESKTOP:-$root/build/release/decoderscope}
if [ -x "$desktop" ]; then
    DESKTOP=$(realpath "$desktop")
    export DESKTOP
elif [ -n "${DESKTOP:-}" ]; then
    echo "$DESKTOP: no program to compare the page's pictures with" >&2
    exit 1
fi
SITE=$(cd "$site" && pwd)
TRACES=$root/tests/reference/bugs/traces
FIXTURES=$root/tests/reference/fixtures
STORED=$root/tests/reference/stored/models
export SITE TRACES FIXTURES STORED
cd "$work/tests"
node --test --test-concurrency=1 test_access.mjs test_document.mjs test_page.mjs test_numbers.mjs test_trace.mjs test_firefox.mjs test_pictures.mjs
