#!/bin/sh
# Builds the program and starts it: ./run.sh [ARGUMENTS of decoderscope]. Installs the packages that it needs.
set -eu
root=$(cd "$(dirname "$0")" && pwd)
. "$root/scripts/packages.sh"
. "$root/scripts/steps.sh"

build_program() {
    step "Packages to compile with"
    # shellcheck disable=SC2086,SC2154 # the lists are words; packages.sh sets them
    say_what_is_missing $compile_packages $run_packages $wished_to_compile $wished_to_run
    install_to_compile
    step "Compiling the program"
    install_to_run &
    installing=$!
    # An installation is never left half done, nor left behind.
    trap 'wait $installing' EXIT
    # Only the tests need Catch2, which test.sh installs; a build that has them keeps them.
    [ -e build/release/CMakeCache.txt ] || configure=-DDECODERSCOPE_TESTS=OFF
    build release --target decoderscope
    wait $installing
    trap - EXIT
}

cd "$root"
program=$root/build/release/decoderscope
[ -x "$program" ] || step "The first start compiles the program: some minutes"
build_program
cd "$OLDPWD"

if [ $# -eq 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "There is no display to open a window on; drawing the tour of the default model into $root/out instead." >&2
    exec "$program" --tour "$root/out"
fi
exec "$program" "$@"
