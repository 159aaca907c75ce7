# Shared by run.sh and test.sh: the Debian packages that are needed to compile, run and test the program. The caller sets
# $root to the source folder. What each package is for: third_party/README.md.
# shellcheck shell=sh disable=SC2086,SC2154 # the lists are words; $root is the caller's
compile_packages="g++ cmake ninja-build pkgconf
    libeigen3-dev libdnnl-dev nlohmann-json3-dev libcli11-dev libfast-float-dev libcairo2-dev libfontconfig-dev
    libminizip-dev libpcre2-dev libutf8proc-dev libxxhash-dev zlib1g-dev libcmark-dev
    libimgui-dev libglfw3-dev libgl-dev libopengl-dev libegl-dev"
# What the program needs to run, not to be compiled: installed while it is.
run_packages="libgl1 libegl1 libgl1-mesa-dri fonts-inter fonts-jetbrains-mono fonts-dejavu-core"
test_packages="catch2 gettext"
# Optional: a faster program; Chinese, Japanese and Korean characters.
wished_to_compile="libxsmm-dev"
wished_to_run="fonts-noto-cjk"
# Optional: for the test of the formatting. It shares its libraries with clang.
# shellcheck disable=SC2034 # test.sh reads it
format_packages="clang-format-14"
# Also needed for the sanitizers and the fuzzers.
# shellcheck disable=SC2034
clang_packages="clang libclang-rt-14-dev lld"

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

# Whether packages can be installed; else names all that are needed.
is_debian() {
    command -v dpkg-query >/dev/null && return
    echo "This is not Debian; install the equivalents of these packages with your system's package manager:" \
        $compile_packages $run_packages $test_packages $wished_to_compile $wished_to_run >&2
    return 1
}

# Installs what compiling needs, or exits.
install_to_compile() {
    is_debian || return 0
    install $compile_packages || exit 1
    wish $wished_to_compile "the program is slower"
}

# Installs what running the program needs. Returns 1 where that fails.
install_to_run() {
    command -v dpkg-query >/dev/null || return 0
    install $run_packages || return 1
    wish $wished_to_run "the window has no Chinese, Japanese and Korean characters"
}

# Tries once to install an optional package: wish PACKAGE WHAT-IS-MISSING-WITHOUT-IT
wish() {
    if [ ! -e "$root/build/without-$1" ] && ! install "$1"; then
        mkdir -p "$root/build"
        echo "Delete this file to try again to install $1." >"$root/build/without-$1"
        echo "Continuing without $1: $2." >&2
    fi
}
