# Shared by run.sh and test.sh: the Debian packages that are needed to build, run and test the program. The caller sets
# $root to the source folder. What each package is for: third_party/README.md.
# shellcheck shell=sh disable=SC2086,SC2154 # the lists are words; $root is the caller's
packages="g++ cmake ninja-build pkgconf
    libeigen3-dev libdnnl-dev nlohmann-json3-dev libcli11-dev libfast-float-dev libcairo2-dev libfontconfig-dev
    libminizip-dev libpcre2-dev libutf8proc-dev libxxhash-dev zlib1g-dev libcmark-dev
    libimgui-dev libglfw3-dev libgl-dev libopengl-dev libegl-dev catch2
    libgl1 libegl1 libgl1-mesa-dri fonts-inter fonts-jetbrains-mono fonts-dejavu-core
    gettext"
# Optional: a faster program; Chinese, Japanese and Korean characters.
wished_packages="libxsmm-dev fonts-noto-cjk"
# Optional: for the test of the formatting. It shares its libraries with clang.
format_packages="clang-format-14"
# Also needed for the fuzzers.
fuzz_packages="clang libclang-rt-14-dev"

is_installed() {
    dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

may_be_root() {
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null
}

as_root() {
    [ "$(id -u)" -eq 0 ] || set -- sudo "$@"
    "$@"
}

# Installs missing packages. If that fails, names them in one sentence and returns 1.
install() {
    missing=""
    for package in "$@"; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -z "$missing" ] && return
    if may_be_root; then
        echo "Installing$missing ..." >&2
        as_root apt-get update -qq >/dev/null || true # an old list may be enough
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --yes --no-install-recommends $missing >/dev/null && return
    fi
    echo "These Debian packages are missing, and could not be installed:$missing" >&2
    return 1
}

# Installs missing packages, or exits. Optional ones are tried once.
install_missing() {
    if ! command -v dpkg-query >/dev/null; then
        echo "This is not Debian; install the equivalents of these packages with your system's package manager:" $packages $wished_packages >&2
        return
    fi
    install $packages || exit 1
    for wished in $wished_packages; do
        case $wished in
        fonts-*) wish "$wished" "the window has no Chinese, Japanese and Korean characters" ;;
        *) wish "$wished" "the program is slower" ;;
        esac
    done
}

# Tries once to install an optional package: wish PACKAGE WHAT-IS-MISSING-WITHOUT-IT
wish() {
    if [ ! -e "$root/build/without-$1" ] && ! install "$1"; then
        mkdir -p "$root/build"
        echo "Delete this file to try again to install $1." >"$root/build/without-$1"
        echo "Continuing without $1: $2." >&2
    fi
}

# Runs a command. Shows its output on a terminal; elsewhere only if the command fails.
quietly() {
    if [ -t 2 ]; then
        "$@" >&2
    elif ! said=$("$@" 2>&1); then
        printf '%s\n' "$said" >&2
        return 1
    fi
}
