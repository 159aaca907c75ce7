#!/bin/sh
# Parts of a release, made from a clone in a bare Debian 12 (scripts/release.sh), into /out: build.sh PART...
#   linux      the source archive, the Debian package, the portable archive
#   page       the page, as a folder that any static server serves
#   wheel      the Python package, with the page in it
#   windows    the installer and the zip
# and the list of what is inside of them. All times are the commit's, so that the same commit gives the same bytes.
set -eu
root=$PWD
. scripts/packages.sh
. scripts/steps.sh
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
out=/out
work=$(mktemp -d)
mkdir -p $out

# A folder as an archive that is the same whoever packs it, and when: packed FOLDER, in the current folder
packed() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    tar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$1" | xz -9 -T1
}

# The Debian package that a file is of. Where /lib is /usr/lib, it may know either name.
package_of() {
    file=$(readlink -f "$1")
    { dpkg-query --search "$file" || dpkg-query --search "${file#/usr}"; } 2>/dev/null | head -n 1 | cut -d : -f 1
}

make_linux() {
    step "Packages"
    install_to_compile
    # shellcheck disable=SC2086,SC2154 # the list is words; packages.sh sets it
    install $run_packages $package_packages patchelf xz-utils || exit 1

    step "The source archive"
    git archive --format=tar --prefix="decoderscope-$version/" HEAD | xz -9 -T1 >"$out/decoderscope-$version.tar.xz"

    step "Compiling"
    configure=-DDECODERSCOPE_TESTS=OFF
    export configure
    build release

    step "The Debian package"
    (cd build/release && quietly cpack -B "$work/cpack")
    # Packed again with the commit's times.
    made=$(find "$work/cpack" -maxdepth 1 -name '*.deb')
    dpkg-deb --raw-extract "$made" "$work/package"
    find "$work/package" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$work/package" "$out/$(basename "$made")" >/dev/null

    step "The portable archive"
    name=decoderscope-$version-linux-x86_64
    folder=$work/$name
    quietly cmake --install build/release --strip --prefix "$folder"
    mkdir "$folder/lib" "$folder/etc" "$folder/licences"
    cp -r packaging/release/portable/. "$folder/"
    cp LICENSE THIRD_PARTY_LICENSES.md "$folder/"

    # OpenGL is the machine's own, and so is what it needs itself: a second copy of a driver's library would come into its way.
    # So are the compiler's libraries, which each of them is older than.
    systems=$(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances libgl1 libegl1 libopengl0 libstdc++6 | grep -E '^[a-z0-9]' | sort -u)
    ldd build/release/decoderscope | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort | while read -r library; do
        package=$(package_of "$library")
        [ -n "$package" ] || { echo "$library: of no package" >&2 && exit 1; }
        ! echo "$systems" | grep -qx "$package" || continue
        cp "$(readlink -f "$library")" "$folder/lib/$(basename "$library")"
        patchelf --set-rpath '$ORIGIN' "$folder/lib/$(basename "$library")"
        echo "$package" >>"$work/bundled"
    done
    patchelf --set-rpath '$ORIGIN/../lib' "$folder/bin/decoderscope"
    for font in opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf opentype/inter/Inter-Bold.otf \
        truetype/jetbrains-mono/JetBrainsMono-Regular.ttf truetype/jetbrains-mono/JetBrainsMono-Bold.ttf \
        truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf; do
        mkdir -p "$folder/share/fonts/$(dirname $font)"
        cp "/usr/share/fonts/$font" "$folder/share/fonts/$font"
    done

    # What is compiled in: libraries that are headers, or archives.
    compiled_in="libeigen3-dev nlohmann-json3-dev libcli11-dev libfast-float-dev libimgui-dev"
    ! is_installed libxsmm-dev || compiled_in="$compiled_in libxsmm-dev"
    fonts="fonts-inter fonts-jetbrains-mono fonts-dejavu-core"
    # shellcheck disable=SC2086 # words
    parts=$(printf '%s\n' $compiled_in $fonts | sort -u - "$work/bundled")
    for package in $parts; do
        cp "/usr/share/doc/$package/copyright" "$folder/licences/$package.txt"
        echo "$package" >>"$work/inside"
    done
    (cd "$work" && packed "$name") >"$out/$name.tar.xz"
}

# What was compiled from the sources of Debian's packages, by NAME=VERSION: sources_inside FOLDER
sources_inside() {
    find "$1/libraries/archives" -name '*.orig.tar.*' ! -name '*.asc' -printf '%f\n' |
        sed -n 's/^\([^_]*\)_\(.*\)\.orig\.tar\..*/\1=\2/p' | grep -v '^catch2=' >>"$work/inside"
}

make_page() {
    scripts/browser.sh
    sources_inside build/browser
    cp -r build/browser/site "$work/decoderscope-$version-page"
    (cd "$work" && packed "decoderscope-$version-page") >"$out/decoderscope-$version-page.tar.xz"
}

make_wheel() {
    scripts/wheel.sh "$out"
}

make_windows() {
    scripts/windows.sh
    sources_inside build/windows
    cp "build/windows/decoderscope-$version-windows.zip" "build/windows/decoderscope-$version-windows.exe" "$out/"
}

for part in "$@"; do
    "make_$part"
done
if [ -e "$work/inside" ]; then
    step "The list of what is inside"
    # shellcheck disable=SC2046 # words
    sh packaging/release/spdx.sh "$version" $(sort -u "$work/inside") >"$out/decoderscope-$version.spdx.json"
fi
rm -rf "$work"
