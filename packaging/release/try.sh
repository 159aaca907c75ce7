#!/bin/sh
# Installs parts of a release that lie in /in and starts them, in a bare Debian (scripts/release.sh): try.sh PART...
#   sources    the archive holds what the clone does
#   package    installs with what it depends on, and draws the tour
#   portable   needs nothing but OpenGL, and draws the tour
set -eu
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
fail() {
    echo "$1" >&2
    exit 1
}

# What a person does first: tries PROGRAM
tries() {
    "$1" --version
    "$1" models | grep -q '^reverse ' || fail "$1 lists no models"
    "$1" trace reverse --text abc --out /tmp/trace.safetensors || fail "$1 can't run a model"
    "$1" export reverse --tensor blocks.0.attn.pattern --all-heads --out /tmp/figure.pdf || fail "$1 can't draw a figure"
    rm -rf /tmp/tour
    "$1" --tour /tmp/tour >/dev/null || fail "$1 can't draw its window"
    [ "$(find /tmp/tour -name '*.png' -size +10k | wc -l)" -ge 5 ] || fail "$1 drew no tour"
}

apt-get update -qq
export DEBIAN_FRONTEND=noninteractive
for part in "$@"; do
    case $part in
    sources)
        mkdir -p /tmp/sources
        apt-get install -qq --yes --no-install-recommends xz-utils >/dev/null 2>&1
        tar -xf "/in/decoderscope-$version.tar.xz" -C /tmp/sources --strip-components=1
        diff -r --exclude=.git --exclude=build . /tmp/sources || fail "the source archive is not the clone"
        ;;
    portable)
        apt-get install -qq --yes --no-install-recommends libgl1 libegl1 libopengl0 libgl1-mesa-dri xz-utils >/dev/null 2>&1
        mkdir -p /tmp/portable
        tar -xf "/in/decoderscope-$version-linux-x86_64.tar.xz" -C /tmp/portable --strip-components=1
        tries /tmp/portable/decoderscope
        ;;
    package)
        # With what is recommended: the driver, and fonts.
        apt-get install -qq --yes /in/decoderscope_*.deb >/dev/null 2>&1 || fail "the Debian package can't be installed"
        dpkg-query --show --showformat='${Depends}\n' decoderscope | grep -q libcairo2 || fail "the Debian package doesn't say what it needs"
        tries decoderscope
        ;;
    esac
    echo "$part: works"
done
