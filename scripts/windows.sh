#!/bin/sh
# Builds the program for Windows, on Debian 12: build/windows/decoderscope-VERSION-windows.zip and ….exe, an installer.
#   scripts/windows.sh                     with oneDNN
#   scripts/windows.sh --without-onednn    in half the time, but large models take several times as long as on Linux
# The compiler is Debian's MinGW-w64, the libraries' sources are Debian's source packages. Says first what it gets.
# DECODERSCOPE_WINDOWS_TESTS=ON also builds the tests that run under Wine (tests/windows/run.sh).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
. scripts/sources.sh
work=$root/build/windows
libraries=$work/libraries
build=$work/build
folder=$work/Decoderscope
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
case ${1:-} in
'') onednn=ON ;;
--without-onednn) onednn=OFF ;;
*) echo "scripts/windows.sh [--without-onednn]: \"$1\" is not known" >&2 && exit 2 ;;
esac
mkdir -p "$work"

# ---- what is needed

get_packages() {
    echo "The compiler and the tools are Debian packages, up to 150 MB to get and 700 MB on disk; the libraries' sources are" \
        "65 MB, and 500 MB on disk." >&2
    # shellcheck disable=SC2086,SC2154 # packages.sh sets the list; it is words
    install g++ cmake ninja-build pkgconf libcairo2-dev g++-mingw-w64-x86-64-posix nsis zip python3 dpkg-dev \
        libeigen3-dev nlohmann-json3-dev libcli11-dev libfast-float-dev fonts-inter fonts-jetbrains-mono fonts-dejavu-core
}

get_libraries() {
    [ -e "$libraries/complete" ] && return
    step "The libraries' sources"
    get_archives "$(debian_release)" imgui glfw3 pcre2 utf8proc zlib minizip libpng1.6 cmark catch2 xxhash pixman cairo \
        freetype
    for library in imgui pcre2 utf8proc zlib minizip cmark xxhash pixman cairo freetype catch2; do
        unpack $library $library
    done
    unpack glfw glfw3
    unpack libpng libpng1.6
    copy_headers
    touch "$libraries/complete"
}

# ---- oneDNN

toolchain=$root/packaging/windows/mingw.cmake
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
onednn_release=trixie  # Debian 12's is older than the one that was tried on Windows

# Nearly all of it writes the instructions that then multiply. They are the same however well the writer is optimised: -O1.
get_onednn() {
    [ -e "$libraries/onednn/build/libdnnl.a" ] && return
    step "oneDNN: matrix products alone"
    get_archives $onednn_release onednn
    unpack onednn onednn
    quietly cmake -G Ninja -S "$libraries/onednn" -B "$libraries/onednn/build" -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
        -DDNNL_LIBRARY_TYPE=STATIC -DDNNL_CPU_RUNTIME=SEQ -DDNNL_GPU_RUNTIME=NONE \
        -DDNNL_BUILD_DOC=OFF -DDNNL_BUILD_EXAMPLES=OFF -DDNNL_BUILD_TESTS=OFF -DONEDNN_BUILD_GRAPH=OFF \
        -DDNNL_ENABLE_WORKLOAD=INFERENCE "-DDNNL_ENABLE_PRIMITIVE=MATMUL;INNER_PRODUCT;REORDER" -DDNNL_ARCH_OPT_FLAGS="" \
        -DDNNL_ENABLE_JIT_PROFILING=OFF -DDNNL_ENABLE_ITT_TASKS=OFF
    (
        cd "$libraries/onednn/build"
        # What products don't refer to would be compiled, and then not linked: convolutions, recurrent nets, norms.
        ninja -t targets all | grep -oE '^[^:]+\.obj' | grep -vE \
            'rnn|conv[_.]|convolution|pool|lrn|_norm|resampling|shuffle|prelu|deconv|softmax|winograd|lstm|gru|concat|_bwd' |
            grep -vE '\.dir/(ref_binary|ref_eltwise|ref_reduction|simple_sum|jit_uni_(binary|eltwise|reduction)[^/]*)\.cpp' >wanted
        # shellcheck disable=SC2046 # names of files, without spaces
        quietly ninja $(grep -vE "$generated" wanted)
        compile_kernels
        compile_lists
        # shellcheck disable=SC2046
        x86_64-w64-mingw32-ar qcs making.a $(grep -vE "$generated" wanted) generated-*.obj
        mv making.a libdnnl.a
    )
}

# What is compiled in another form.
generated='_kern.*_autogen|reorder/cpu_reorder_(comp|regular)_'

# Compiles generated-NAME.cpp as another file is: compile_as OBJECT NAME [OPTION]
compile_as() {
    command=$(ninja -t commands "$1" | tail -n 1 |
        sed "s, -MD .*-o [^ ]* -c .*, ${3:-} -o generated-$2.obj -c generated-$2.cpp,")
    quietly sh -c "$command"
}

# Kernels whose instructions a generator wrote down, each written once a process: not optimised. As half of a file's time goes into
# what each of them includes, they are compiled together.
compile_kernels() {
    for set in bf16 f32 s8x8s32; do
        files=$(grep "/gemm/$set/.*_autogen" wanted)
        echo "$files" | sed 's,.*/dnnl_cpu_x64.dir/\(.*\)\.obj,#include "cpu/x64/\1",' >"generated-$set.cpp"
        compile_as "$(echo "$files" | head -n 1)" $set -O0
    done
}

# What the engine asks for its kernels: of the reorders those between matrices of f32; for all else that was left out, empty lists.
compile_lists() {
    nothing="static const impl_list_item_t nothing[] = {nullptr}; return nothing;"
    {
        echo "#include \"cpu/cpu_engine.hpp\""
        echo "#include \"cpu/reorder/cpu_reorder_regular_f32_f32.cpp\""
        echo "namespace dnnl { namespace impl { namespace cpu {"
        grep -oE '[a-z0-9_]+_impl_list_map\(\)' ../src/cpu/reorder/cpu_reorder.hpp | grep -v regular_f32_f32 |
            sed 's/.*/const impl_list_map_t \&& { static const impl_list_map_t none; return none; }/'
        sed -nE 's/^DECLARE_IMPL_LIST\((.*)\);/\1/p' ../src/cpu/cpu_engine.hpp |
            grep -vxE 'binary|eltwise|inner_product|matmul|reduction' |
            sed "s/.*/const impl_list_item_t *get_&_impl_list(const &_desc_t *) { $nothing }/"
        echo "const impl_list_item_t *cpu_engine_impl_list_t::get_concat_implementation_list() { $nothing }"
        echo "}}}"
    } >generated-lists.cpp
    compile_as "$(grep cpu_reorder_regular_f32_f32 wanted)" lists
}

# ---- the program

make_icon() {
    icons=$work/icons
    mkdir -p "$icons"
    # shellcheck disable=SC2046 # options are words
    g++ -std=c++20 -O1 packaging/draw_icon.cpp -o "$icons/draw_icon" $(pkgconf --cflags --libs cairo)
    "$icons/draw_icon" "$icons"
    set --
    for size in 16 24 32 48 64 128 256; do
        set -- "$@" "$icons/${size}x$size/apps/decoderscope.png"
    done
    python3 packaging/windows/make_icon.py "$icons/decoderscope.ico" "$@"
}

compile() {
    step "The program"
    quietly cmake -G Ninja -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DDECODERSCOPE_WINDOWS_ICON="$work/icons/decoderscope.ico" -DDECODERSCOPE_UNITE=ON \
        -DDECODERSCOPE_ONEDNN=$onednn -DDECODERSCOPE_TESTS="${DECODERSCOPE_WINDOWS_TESTS:-OFF}" \
        -DDECODERSCOPE_WINDOWS_SOURCES="$libraries"
    quietly cmake --build "$build"
    packaging/windows/check_program.sh "$build/decoderscope.exe" "$build/decoderscope.com" >&2
}

# ---- what is given away

make_folder() {
    rm -rf "$folder"
    mkdir -p "$folder/share/decoderscope" "$folder/share/fonts"
    for program in decoderscope.exe decoderscope.com; do
        x86_64-w64-mingw32-strip -o "$folder/$program" "$build/$program"
    done
    cp -r assets/. "$folder/share/decoderscope/"
    rm -rf "$folder/share/decoderscope/models/training"
    find "$folder/share" -name '*.py' ! -name record.py -delete
    find "$folder/share" -name __pycache__ -prune -exec rm -r {} +
    for font in opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf opentype/inter/Inter-Bold.otf \
        truetype/jetbrains-mono/JetBrainsMono-Regular.ttf truetype/jetbrains-mono/JetBrainsMono-Bold.ttf \
        truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf; do
        cp "/usr/share/fonts/$font" "$folder/share/fonts/"
    done
    cp LICENSE "$folder/LICENSE.txt"
    cp THIRD_PARTY_LICENSES.md "$folder/"
    copy_licences
}

# Of everything that is linked in, and of the fonts: licences/NAME.txt
copy_licences() {
    mkdir "$folder/licences"
    for notice in imgui/LICENSE.txt glfw/LICENSE.md pcre2/LICENCE utf8proc/LICENSE.md zlib/LICENSE libpng/LICENSE \
        cmark/COPYING xxhash/LICENSE pixman/COPYING cairo/COPYING cairo/COPYING-MPL-1.1 freetype/docs/FTL.TXT; do
        # minizip is part of zlib.
        cp "$libraries/$notice" "$folder/licences/$(echo "${notice%.*}" | tr / -).txt"
    done
    if [ $onednn = ON ]; then
        cp "$libraries/onednn/LICENSE" "$folder/licences/oneDNN.txt"
        cp "$libraries/onednn/THIRD-PARTY-PROGRAMS" "$folder/licences/oneDNN-third-party.txt"
    fi
    for package in mingw-w64-x86-64-dev gcc-mingw-w64-x86-64-posix libeigen3-dev libcli11-dev libfast-float-dev \
        nlohmann-json3-dev fonts-inter fonts-jetbrains-mono fonts-dejavu-core; do
        cp "/usr/share/doc/$package/copyright" "$folder/licences/$package.txt"
    done
}

make_packages() {
    step "Zip and installer"
    name=$work/decoderscope-$version-windows
    rm -f "$name.zip" "$name.exe"
    # The same bytes from the same files: in the order of their names, of one time, without what only Unix knows of them.
    [ -z "${SOURCE_DATE_EPOCH:-}" ] || find "$folder" -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
    (cd "$work" && find Decoderscope | LC_ALL=C sort | TZ=UTC zip -q -9 -X -@ "$name.zip")
    quietly makensis -DFOLDER="$folder" -DVERSION="$version" -DICON="$work/icons/decoderscope.ico" -DOUT="$name.exe" \
        packaging/windows/decoderscope.nsi
    for file in "$name.zip" "$name.exe"; do
        stat -c '%n %s' "$file" | awk '{printf "%s: %.1f MB\n", $1, $2 / 1e6}'
    done
}

get_packages
get_libraries
[ $onednn = OFF ] || get_onednn
make_icon
compile
make_folder
make_packages
