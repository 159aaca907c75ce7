#!/bin/sh
# Builds the program and starts it: ./run.sh [ARGUMENTS of decoderscope]. Installs the packages that it needs.
set -eu
root=$(cd "$(dirname "$0")" && pwd)
. "$root/scripts/packages.sh"
install_missing

cd "$root"
quietly cmake --preset release
quietly cmake --build --preset release --target decoderscope
cd "$OLDPWD"
program=$root/build/release/decoderscope

if [ $# -eq 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "There is no display to open a window on; drawing the tour of the default model into $root/out instead." >&2
    exec "$program" --tour "$root/out"
fi
exec "$program" "$@"
