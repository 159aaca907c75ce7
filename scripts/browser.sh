#!/bin/sh
# Builds the program for a browser: a folder that any static server serves.
#   scripts/browser.sh [FOLDER]     FOLDER: build/browser/site unless given
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
site=${1:-build/browser/site}
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
    install debootstrap
    as_root rm -rf "$toolchain"
    quietly as_root debootstrap --variant=minbase --include=emscripten,cmake,ninja-build \
        trixie "$toolchain" "$(debian_mirror)"
    as_root chroot "$toolchain" apt-get clean
    as_root touch "$toolchain/complete"
}

# ---- the libraries' sources

get_libraries() {
    [ -e "$libraries/complete" ] && return
    echo "Getting the libraries' sources ..." >&2
    install dpkg-dev libeigen3-dev nlohmann-json3-dev libcli11-dev libfast-float-dev fonttools fonts-inter \
        fonts-jetbrains-mono fonts-dejavu-core fonts-noto-cjk xz-utils
    rm -rf "$libraries"
    get_archives "$(debian_release)" imgui pcre2 utf8proc zlib minizip libpng1.6 cmark catch2 xxhash xz-utils
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
    unpack xz xz-utils
    unpack catch2 catch2
    copy_headers
    touch "$libraries/complete"
}

# ---- the build

tests=${DECODERSCOPE_BROWSER_TESTS:-OFF}
configure_and_build() {
    # shellcheck disable=SC2016 # the inner shell expands
    script='cd "$1" && emcmake cmake -G Ninja -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DDECODERSCOPE_UNITE=ON \
        -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DDECODERSCOPE_BROWSER_SOURCES="$3" -DDECODERSCOPE_TESTS="$4" >&2 &&
        cmake --build "$2" >&2'
    if has_emscripten; then
        quietly sh -c "$script" sh "$root" "$work/build" "$libraries" "$tests"
        built=$work/build
    else
        get_toolchain
        # The folder sees nothing outside itself: sources in, results out.
        as_root rm -rf "$toolchain/source"  # a file that was deleted must not stay
        as_root mkdir -p "$toolchain/source" "$toolchain/libraries"
        tar -cf - --exclude=./build --exclude=./.git . | as_root tar -xf - -C "$toolchain/source"
        tar -cf - -C "$libraries" --exclude=./archives --exclude=./lists . | as_root tar -xf - -C "$toolchain/libraries"
        quietly as_root chroot "$toolchain" sh -c "$script" sh /source /build /libraries "$tests"
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

# The program in two parts: what isn't needed for the first picture comes after it (app/window/browser/page.js).
split_program() {
    python3 scripts/second_part.py <"$built/app/decoderscope_page.wasm" >"$work/second_part.txt"
    # shellcheck disable=SC2016
    script='cd "$1/app" && "$(em-config BINARYEN_ROOT)/bin/wasm-split" decoderscope_page.wasm --split-funcs=@second_part.txt \
        -o1 first.wasm -o2 second.wasm --import-namespace=primary --no-placeholders \
        --enable-exception-handling --enable-simd --enable-bulk-memory --enable-mutable-globals --enable-sign-ext \
        --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types'
    as_root cp "$work/second_part.txt" "$built/app/"
    if has_emscripten; then
        sh -c "$script" sh "$built"
    else
        as_root chroot "$toolchain" sh -c "$script" sh /build
    fi
}

# ---- the folder

# As app/browser/main_unpack.cpp unpacks it.
pack() {
    xz --check=crc32 --lzma2=preset=9e,dict=8MiB,nice=273,lc=1,pb=0 --stdout
}

# The program without the names of its C++ types, a quarter of its data: they are compared by their addresses, and only
# typeid().name() would tell them. Each becomes as many zeros.
without_type_names() {
    python3 -c 'import re, sys; sys.stdout.buffer.write(re.sub(
        rb"(?<=\0)[\w$.]*(?:12decoderscope|St3__2|8nlohmann)[\w$.]*(?=\0)",
        lambda name: bytes(len(name[0])), sys.stdin.buffer.read(), flags=re.ASCII))'
}

# Weights, so that they compress better (app/window/browser/files.js): of each number the first bit, its sign, becomes the
# last, so that a byte is the whole exponent; then all first bytes stand before all second ones.
planes_of() {
    python3 -c 'import array, sys
weights = sys.stdin.buffer.read()
whole = len(weights) // 4 * 4
turned = array.array("I", (n << 1 & 0xffffffff | n >> 31 for n in array.array("I", weights[:whole]))).tobytes() + weights[whole:]
sys.stdout.buffer.write(b"".join(turned[i::4] for i in range(4)))'
}

# A file of the program, packed; and where the program looks for it: add_file FILE PATH WHEN
add_file() {
    name=$3_$(echo "${2#/usr/share/}" | tr / _)
    packed=$site/files/$name.xz
    case $2 in
    *.safetensors)
        planes=4
        planes_of <"$1" | pack >"$packed"
        ;;
    *)
        planes=0
        pack <"$1" >"$packed"
        ;;
    esac
    printf '{"name": "%s", "path": "%s", "size": %s, "planes": %s}' "$name" "$2" "$(stat -c %s "$packed")" $planes
}

# A list of files as JSON, from FILE PATH pairs, a line each: as_json WHEN
as_json() {
    between=""
    while read -r file path; do
        printf '%s' "$between"
        add_file "$file" "$path" "$1"
        between=", "
    done
}

assets_of() {
    find "$1" -type f ! -name '*.py' ! -name README.md | LC_ALL=C sort | while read -r file; do
        echo "$file /usr/share/decoderscope/${file#assets/}"
    done
}

make_site() {
    rm -rf "$site"
    mkdir -p "$site/files"
    {
        printf '{"first": ['
        { assets_of assets/models/reverse; fonts "$small_fonts"; } | as_json first
        printf '], "later": ['
        {
            fonts /usr/share/fonts
            assets_of assets | grep -v -e ' /usr/share/decoderscope/models/reverse/' -e '\.pot '
        } | as_json later
        printf '], "onDemand": ['
        echo "$wide_font $wide_font" | as_json demand
        printf ']}\n'
    } | pack >"$site/files/list.json.xz"
    page=app/window/browser
    cp "$page/index.html" "$page/page.css" "$page/start.js" "$page/files.js" "$site/"
    python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read(), 9))' \
        <"$built/app/decoderscope_unpack.wasm" >"$site/unpack.zlib"
    pack <"$built/app/decoderscope_page.js" >"$site/decoderscope_page.js.xz"
    without_type_names <"$built/app/first.wasm" | python3 scripts/part_wasm.py | pack >"$site/decoderscope_page.wasm.xz"
    python3 scripts/part_wasm.py <"$built/app/second.wasm" | pack >"$site/decoderscope_second.wasm.xz"
    version=$(find "$site" -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c 1-16)
    sed "s/@VERSION@/$version/" "$page/offline.js" >"$site/offline.js"
}

# The fonts of the window in a folder, and where the program looks for them.
faces="opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf truetype/jetbrains-mono/JetBrainsMono-Regular.ttf
    truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf"
wide_font=/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc
fonts() {
    for font in $faces; do
        echo "$1/$font /usr/share/fonts/$font"
    done
}

# The same fonts for the first picture: letters, and the characters that the program's own texts have, without hinting and
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
split_program
make_small_fonts
make_site
python3 scripts/one_page.py "$site" "$work/viewer.html"
echo "$site: $(du -sh "$site" | cut -f 1); serve it, for example: python3 -m http.server --directory $site"
