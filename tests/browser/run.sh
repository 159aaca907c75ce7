#!/bin/sh
# Builds the page with its tests; runs the engine's tests under node, then opens the page in Chromium and Firefox.
# tests/browser/run.sh [SITE]: with a SITE that is built already, the pages' tests alone.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
. scripts/packages.sh
work=$root/build/browser
site=${1:-}
if [ -z "$site" ]; then
    site=$work/site
    DECODERSCOPE_BROWSER_TESTS=ON scripts/browser.sh "$site"
fi
install chromium firefox-esr
command -v npm >/dev/null || install nodejs npm
# Beside the packages that they import, since a module looks for them from where it lies.
mkdir -p "$work/tests"
cp tests/browser/*.mjs tests/browser/package.json "$work/tests/"
(cd "$work/tests" && quietly npm install --no-audit --no-fund)
SITE=$(cd "$site" && pwd) TRACES=$root/tests/reference/bugs/traces node --test --test-concurrency=1 \
    "$work/tests/test_page.mjs" "$work/tests/test_trace.mjs" "$work/tests/test_firefox.mjs"
