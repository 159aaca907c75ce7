#!/bin/sh
# Builds the program for a browser: a folder that any static server serves.
#   scripts/browser.sh [FOLDER]     FOLDER: build/browser/site unless given
#   scripts/browser.sh --toolchain  gets the compiler, and no more
# DECODERSCOPE_BROWSER_TESTS=ON: with the programs for node, and their tests. DECODERSCOPE_BROWSER_QUICK=ON: built in half the
# time, and larger: for the page's tests.
# Also puts it into one file, build/browser/viewer.html, for notebooks (scripts/wheel.sh).
# The compiler is Emscripten's: the one on the PATH if it is 3.1.69 or newer (an emsdk), else Debian 13's, which is put
# into a folder of its own (build/browser/toolchain) by debootstrap. That needs root, and the script says so first. The
# libraries' sources are Debian's source packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
. scripts/sources.sh
work=$root/build/browser
toolchain=$work/toolchain
libraries=$work/libraries
mkdir -p "$work"

# ---- the compiler

has_emscripten() {
    command -v emcmake >/dev/null && version=$(emcc -dumpversion 2>/dev/null) &&
        [ "$(printf '%s\n3.1.69\n' "$version" | sort -V | head -n 1)" = 3.1.69 ]
}

get_toolchain() {
    [ -e "$toolchain/complete" ] && return
    if ! may_be_root; then
        echo "No Emscripten from 3.1.69 on is on the PATH, and getting Debian 13's needs root: install an emsdk." >&2
        exit 1
    fi
    echo "Getting Debian 13's Emscripten into $toolchain: 3 GB on disk, a download of 500 MB ..." >&2
    install debootstrap mount  # with which debootstrap takes away again what it mounts in there
    as_root rm -rf "$toolchain"
    quietly as_root debootstrap --variant=minbase --include=emscripten,cmake,ninja-build \
        trixie "$toolchain" "$(debian_mirror)"
    as_root chroot "$toolchain" apt-get clean
    as_root touch "$toolchain/complete"
}

if [ "${1:-}" = --toolchain ]; then
    has_emscripten || get_toolchain
    exit
fi
site=${1:-build/browser/site}

# ---- the libraries' sources

get_libraries() {
    install fonttools fonts-inter fonts-jetbrains-mono fonts-dejavu-core fonts-noto-cjk fonts-symbola brotli
    [ -e "$libraries/complete" ] && return
    echo "Getting the libraries' sources ..." >&2
    install dpkg-dev libeigen3-dev nlohmann-json3-dev libcli11-dev libfast-float-dev
    rm -rf "$libraries"
    get_archives "$(debian_release)" imgui pcre2 utf8proc zlib minizip libpng1.6 cmark catch2 xxhash
    unpack imgui imgui
    # Its own font: a page always brings others.
    sed -i '/^static const char proggy_clean_ttf_compressed_data_base85\[/,/";$/c static const char proggy_clean_ttf_compressed_data_base85[] = "";' \
        "$libraries/imgui/imgui_draw.cpp"
    unpack pcre2 pcre2
    unpack utf8proc utf8proc
    unpack zlib zlib
    unpack minizip minizip
    unpack libpng libpng1.6
    unpack cmark cmark
    unpack xxhash xxhash
    unpack catch2 catch2
    copy_headers
    touch "$libraries/complete"
}

# ---- the build

tests=${DECODERSCOPE_BROWSER_TESTS:-OFF}
small=ON target=decoderscope_page
[ "${DECODERSCOPE_BROWSER_QUICK:-OFF}" = OFF ] || small=OFF
[ "$tests" = OFF ] || target=all
configure_and_build() {
    # shellcheck disable=SC2016 # the inner shell expands
    script='cd "$1" && emcmake cmake -G Ninja -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DDECODERSCOPE_UNITE=ON \
        -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DDECODERSCOPE_BROWSER_SOURCES="$3" -DDECODERSCOPE_TESTS="$4" \
        -DDECODERSCOPE_SMALL="$5" >&2 && cmake --build "$2" --target "$6" >&2'
    if has_emscripten; then
        quietly sh -c "$script" sh "$root" "$work/build" "$libraries" "$tests" "$small" "$target"
        built=$work/build
    else
        get_toolchain
        # The folder sees nothing outside itself: sources in, results out.
        as_root rm -rf "$toolchain/source"  # a file that was deleted must not stay
        as_root mkdir -p "$toolchain/source" "$toolchain/libraries"
        tar -cf - --exclude=./build --exclude=./.git . | as_root tar -xf - -C "$toolchain/source"
        tar -cf - -C "$libraries" --exclude=./archives --exclude=./lists . | as_root tar -xf - -C "$toolchain/libraries"
        quietly as_root chroot "$toolchain" sh -c "$script" sh /source /build /libraries "$tests" "$small" "$target"
        built=$toolchain/build
    fi
}

# The engine's tests and the fuzzers' seeds, under node. [native] tests need threads, devices or addresses of 64 bits.
run_node_tests() {
    # shellcheck disable=SC2016
    script='cd "$2/tests" && node test_engine.js --filenames-as-tags "~[.]~[native]" &&
        for seeds in "$1"/tests/fuzz/corpus/*; do
            echo "$(basename "$seeds"): $(node "fuzz/fuzz_$(basename "$seeds").js" "$seeds")" || exit 1
        done'
    if has_emscripten; then
        sh -c "$script" sh "$root" "$work/build"
    else
        as_root chroot "$toolchain" sh -c "$script" sh /source /build
    fi
}

# ---- the folder

# The fonts of the window.
faces="opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf truetype/jetbrains-mono/JetBrainsMono-Regular.ttf
    truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf"

# Them for the first picture: letters, and the characters that the program's own texts have, without hinting and
# kerning, which the window doesn't use. A fifteenth of their size.
small_fonts=$work/fonts
make_small_fonts() {
    find app engine -name '*.cpp' -o -name '*.h' | xargs cat | LC_ALL=C tr -d '\000-\177' >"$work/symbols.txt"
    for font in $faces; do
        mkdir -p "$small_fonts/$(dirname "$font")"
        case $font in
        *DejaVu*) letters=FFFD ;; # what the others lack
        *) letters=20-7E,FFFD ;;
        esac
        pyftsubset "/usr/share/fonts/$font" --output-file="$small_fonts/$font" --layout-features= --no-hinting \
            --desubroutinize --unicodes="$letters" --text-file="$work/symbols.txt" 2>/dev/null
    done
}

get_libraries
configure_and_build
if [ "$tests" = ON ]; then
    run_node_tests
fi
make_small_fonts
python3 scripts/site.py "$built/app" "$small_fonts" "$site" "$work/viewer.html"
echo "$site: $(du -sh "$site" | cut -f 1); serve it, for example: python3 -m http.server --directory $site"
