#!/bin/sh
# Builds the program and starts it: ./run.sh [ARGUMENTS of decoderscope]. Installs the packages that it needs.
set -eu
root=$(cd "$(dirname "$0")" && pwd)
. "$root/scripts/packages.sh"
. "$root/scripts/steps.sh"

build_program() {
    step "Packages to compile with"
    install_to_compile
    step "Compiling the program"
    install_to_run &
    installing=$!
    # Only the tests need Catch2, which test.sh installs; a build that has them keeps them.
    [ -e build/release/CMakeCache.txt ] || configure=-DDECODERSCOPE_TESTS=OFF
    build release --target decoderscope
    wait $installing
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
