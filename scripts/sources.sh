# Shared by browser.sh and windows.sh: libraries' sources, from Debian's source packages, for what compiles them itself
# (third_party/from_sources.cmake). The caller has read packages.sh and steps.sh, and set $libraries to the folder for them.
# shellcheck shell=sh disable=SC2154 # $libraries is the caller's

# The mirror that this Debian uses.
debian_mirror() {
    apt-cache policy | grep -oE 'https?://[^ ]+/debian ' | head -n 1 | tr -d ' '
}

# This Debian's release: bookworm.
debian_release() {
    (. /etc/os-release && echo "$VERSION_CODENAME")
}

# Gets source packages of a release: get_archives RELEASE PACKAGE...
# By a list of sources of its own: the system's stays as it is.
get_archives() {
    release=$1
    shift
    mkdir -p "$libraries/archives" "$libraries/lists/$release/partial"
    echo "deb-src $(debian_mirror) $release main" >"$libraries/lists/$release.list"
    apt_own="-o Dir::Etc::SourceList=$libraries/lists/$release.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists=$libraries/lists/$release"
    # shellcheck disable=SC2086 # the options are words
    quietly as_root apt-get $apt_own update -qq
    # shellcheck disable=SC2086
    (cd "$libraries/archives" && quietly apt-get $apt_own source -qq --download-only --tar-only "$@")
}

# Unpacks the original source of a Debian source package into a folder of that name: unpack NAME PACKAGE
unpack() {
    rm -rf "${libraries:?}/$1"
    mkdir -p "$libraries/$1"
    tar -xf "$(find "$libraries/archives" -name "$2_*.orig.tar.*" | grep -v '\.asc$' | head -n 1)" \
        -C "$libraries/$1" --strip-components=1
}

# Copies the libraries that are headers only: what compiles for another system must not see the rest of /usr/include.
copy_headers() {
    mkdir -p "$libraries/include"
    for headers in eigen3 nlohmann CLI fast_float; do
        cp -r "/usr/include/$headers" "$libraries/include/"
    done
}
