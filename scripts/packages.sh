# Shared by run.sh and test.sh: the Debian packages that are needed to compile, run and test the program. The caller sets
# $root to the source folder. What each package is for: third_party/README.md.
# shellcheck shell=sh disable=SC2086,SC2154 # the lists are words; $root is the caller's
compile_packages="clang lld cmake ninja-build pkgconf
    libeigen3-dev libdnnl-dev nlohmann-json3-dev libcli11-dev libfast-float-dev libcairo2-dev libfontconfig-dev
    libminizip-dev libpcre2-dev libutf8proc-dev libxxhash-dev zlib1g-dev libcmark-dev
    libimgui-dev libglfw3-dev libgl-dev libopengl-dev libegl-dev"
# What the program needs to run, not to be compiled: installed while it is.
run_packages="libgl1 libegl1 libgl1-mesa-dri fonts-inter fonts-jetbrains-mono fonts-dejavu-core"
# shellcheck disable=SC2034
test_packages="catch2 gettext"
# To make a Debian package that knows what it depends on.
# shellcheck disable=SC2034
package_packages="dpkg-dev file"
# Optional: a faster program; Chinese, Japanese and Korean characters.
wished_to_compile="libxsmm-dev"
wished_to_run="fonts-noto-cjk"
# Optional: for the test of the formatting.
# shellcheck disable=SC2034 # test.sh reads it
format_packages="clang-format-14"
# Optional: for the tests of the Python package, and of its types.
# shellcheck disable=SC2034
python_packages="python3-torch python3-numpy python3-jinja2 python3-pytest mypy"
# Also needed for the sanitizers and the fuzzers.
# shellcheck disable=SC2034
sanitizer_packages="libclang-rt-dev"

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

# Those of the packages that are not installed, each with a space before it.
missing_of() {
    for package in "$@"; do
        is_installed "$package" || printf ' %s' "$package"
    done
}

# Runs apt-get as root, once no other program uses the package database. Shows what it says only if it fails.
apt_get() {
    waited=0
    until said=$(as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq "$@" 2>&1); do
        case $said in
        *"Could not get lock"* | *"is locked by another process"*) ;;
        *) waited=600 ;;
        esac
        if [ $waited -ge 600 ]; then
            printf '%s\n' "$said" >&2
            return 1
        fi
        [ $waited -gt 0 ] || echo "Waiting for another program to finish with the package database ..." >&2
        sleep 2
        waited=$((waited + 2))
    done
}

# Installs missing packages. If that fails, names them in one sentence and returns 1. Says nothing where say_what_is_missing
# has said it.
install() {
    missing=$(missing_of "$@")
    [ -z "$missing" ] && return
    may_be_root || [ -z "${said_what_is_missing:-}" ] || return 1
    if may_be_root; then
        echo "Installing$missing ..." >&2
        apt_get update || true # an old list may be enough
        apt_get install --yes --no-install-recommends $missing && return
    fi
    echo "These Debian packages are missing, and could not be installed; as root, run: apt-get install$missing" >&2
    return 1
}

# Where packages can't be installed, says in one command which of these are missing: say_what_is_missing PACKAGE...
say_what_is_missing() {
    if ! command -v dpkg-query >/dev/null; then
        echo "This is not Debian; install the equivalents of these packages with your system's package manager:" "$@" >&2
    elif ! may_be_root; then
        missing=$(missing_of "$@")
        said_what_is_missing=yes
        [ -z "$missing" ] || echo "Continuing with what is installed. As root, run: apt-get install$missing" >&2
    fi
}

# Installs what compiling needs. What fails is said; CMake then says what it can't do without.
install_to_compile() {
    command -v dpkg-query >/dev/null || return 0
    install $compile_packages || return 0
    wish $wished_to_compile "the program is slower"
}

# Installs what running the program needs, or says what is missing: it may do without.
install_to_run() {
    command -v dpkg-query >/dev/null || return 0
    install $run_packages || return 0
    wish $wished_to_run "the window has no Chinese, Japanese and Korean characters"
}

# Tries once to install an optional package: wish PACKAGE WHAT-IS-MISSING-WITHOUT-IT
wish() {
    [ ! -e "$root/build/without-$1" ] && ! install "$1" || return 0
    echo "Continuing without $1: $2." >&2
    may_be_root || return 0
    mkdir -p "$root/build"
    echo "Delete this file to try again to install $1." >"$root/build/without-$1"
}

# Installs what package.json asks for, in this folder: npm_install [OPTION ...]. Returns 1, and says so, if npm's registry can't
# be reached; whatever else goes wrong ends the script.
npm_install() {
    said=$(npm install --no-audit --no-fund "$@" 2>&1) && return
    printf '%s\n' "$said" >&2
    ! npm ping >/dev/null 2>&1 || exit 1
    echo "npm can't reach its registry." >&2
    return 1
}
