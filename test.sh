#!/bin/sh
# Builds the program and runs its tests: ./test.sh [PRESET ...]
#   ./test.sh            the tests, optimised: what to run before and after a change
#   ./test.sh all        long, asan, tsan and readers: those, with what takes minutes to see more of a kind; under sanitizers, with
#                        threads watched, and every reader of files fuzzed
#   ./test.sh ci         what CI has the time for: the tests, readers, and page
#   ./test.sh readers    under sanitizers the engine's tests, and every reader of files fuzzed for some seconds
#   ./test.sh alone      each file compiled by itself: the compiler's word on what the test of includes reads in the sources
#   ./test.sh browser    the page and its tests, which takes as long again
#   ./test.sh windows    the program for Windows, built and tried under Wine: 40 minutes the first time
#   ./test.sh notebook   the Python package, in Jupyter; builds the page first if it isn't there
#   ./test.sh page       the page and the notebook as CI tests them: built in half the time, without what is timed or weighed, the
#                        engine's tests under node, JupyterLab and VS Code
#   ./test.sh bare       ./run.sh and ./test.sh ci on a machine that has nothing, with what else README and docs tell a person
#                        to type: what CI does. Another command: ./test.sh bare [--suite trixie] COMMAND (scripts/bare.sh)
# Installs the packages that it needs; without clang and its runtime nothing is sanitized or fuzzed.
set -eu
root=$(cd "$(dirname "$0")" && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
if [ "${1:-}" = bare ]; then
    shift
    exec scripts/bare.sh "$@"
fi
# shellcheck disable=SC2034 # steps.sh reads it: run.sh may have configured a build without the tests
configure=-DDECODERSCOPE_TESTS=ON

install_packages() {
    step "Packages"
    # shellcheck disable=SC2086,SC2154 # the lists are words; packages.sh sets them
    say_what_is_missing $compile_packages $run_packages $test_packages $package_packages $wished_to_compile $wished_to_run
    install_to_compile
    install_to_run
    if command -v dpkg-query >/dev/null; then
        # shellcheck disable=SC2086 # words
        install $test_packages $package_packages || true # what is missing is said
        # shellcheck disable=SC2154
        wish "$format_packages" "the layout of the sources is not checked"
    fi
}

run_tests() {
    step "$1: compiling"
    build "$1"
    step "$1: testing"
    ctest --preset "$@" --parallel "$(nproc)"
}

# What parses what others wrote: the engine's tests, then every fuzzer for this many seconds, as many at once as there are cores.
test_readers() {
    step "readers: compiling"
    build asan --target fuzzers --target test_engine
    step "readers: testing"
    ctest --preset asan --tests-regex '^test_engine' --parallel "$(nproc)"
    step "readers: fuzzing each for $1 seconds"
    ls tests/fuzz/corpus | quietly xargs -n 1 -P "$(nproc)" tests/fuzz/run.sh "$1"
}

install_sanitizers() {
    # shellcheck disable=SC2086,SC2154
    install $sanitizer_packages || {
        echo "Without clang's runtime nothing is run under $1." >&2
        return 1
    }
}

install_packages
[ $# -gt 0 ] || set -- release
[ "$*" != all ] || set -- python long asan tsan readers
if [ "$*" = ci ]; then
    set -- python release readers page
    # The page's compiler, half a gigabyte, is fetched while the tests run.
    scripts/browser.sh --toolchain >/dev/null 2>&1 &
fi
for preset in "$@"; do
    case $preset in
    readers) ! install_sanitizers "the address sanitizer" || test_readers 5 ;;
    asan) ! install_sanitizers "the address sanitizer" || run_tests asan ;;
    tsan) ! install_sanitizers "the thread sanitizer" || run_tests tsan ;;
    alone)
        step "alone: each file compiled by itself"
        build alone
        ;;
    browser) tests/browser/run.sh ;;
    python)
        # shellcheck disable=SC2086,SC2154 # words
        install $python_packages || echo "Without these the Python package is not tested." >&2
        ;;
    long) run_tests release --build-config Long ;;
    notebook) tests/notebook/run.sh ;;
    page)
        step "page: building"
        wait # for its compiler
        DECODERSCOPE_BROWSER_QUICK=ON scripts/browser.sh
        export SLOW_MACHINE=1
        # Each waits for a browser most of the time: both together take little longer than one.
        step "Notebooks, and pages in Chromium and Firefox"
        tests/notebook/run.sh >build/notebook.log 2>&1 &
        notebook=$!
        tests/browser/run.sh build/browser/site || {
            stop $notebook
            exit 1
        }
        wait $notebook || {
            cat build/notebook.log
            exit 1
        }
        ;;
    windows) tests/windows/run.sh ;;
    *) run_tests "$preset" ;;
    esac
done
step "All of it passed."
