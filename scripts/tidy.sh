#!/bin/sh
# Runs clang-tidy 14 with the repository's .clang-tidy over some sources, or over those that differ from a commit:
# tidy.sh FILE … | tidy.sh --since COMMIT
# Some ten seconds a file. Each is compiled by itself, so no build is needed.
set -e
cd "$(dirname "$0")/.."
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || {
    echo "tidy.sh: clang-tidy is not installed (Debian package clang-tidy-14)" >&2
    exit 1
}
if [ "$1" = --since ]; then
    set -- $(git diff --name-only --diff-filter=AMR "${2:-HEAD}" -- 'engine/*.cpp' 'app/*.cpp')
fi
[ $# -gt 0 ] || exit 0
exec "$tidy" --quiet "$@" -- -std=c++20 -I. -DDECODERSCOPE_VERSION='"0"' -isystem /usr/include/eigen3 \
    -isystem /usr/include/imgui -isystem /usr/include/imgui/backends $(pkg-config --cflags cairo minizip libpcre2-8)
