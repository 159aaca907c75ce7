#!/bin/sh
# What `cmake --install` puts into a folder is all there and runs from anywhere: test_install.sh CMAKE BUILD_FOLDER
set -u
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failed=0

fail() {
    echo "$1"
    failed=1
}

"$1" --install "$2" --prefix "$root/usr" >/dev/null || exit 1
for file in bin/decoderscope share/applications/decoderscope.desktop share/mime/packages/decoderscope.xml \
    share/metainfo/org.example.decoderscope.metainfo.xml share/man/man1/decoderscope.1.gz share/doc/decoderscope/copyright \
    share/doc/decoderscope/changelog.gz share/bash-completion/completions/decoderscope \
    share/zsh/vendor-completions/_decoderscope share/fish/vendor_completions.d/decoderscope.fish \
    share/icons/hicolor/scalable/apps/decoderscope.svg share/icons/hicolor/16x16/apps/decoderscope.png \
    share/icons/hicolor/512x512/apps/decoderscope.png share/decoderscope/models/reverse/model.safetensors \
    share/decoderscope/messages/zh_CN.po share/decoderscope/recorder/record.py share/decoderscope/recorder/record_llama.h; do
    [ -s "$root/usr/$file" ] || fail "$file is missing"
done
unwanted=$(find "$root/usr" \( -name '*.py' ! -name record.py \) -o -name '*.a' -o \( -name '*.h' ! -name record_llama.h \))
[ -z "$unwanted" ] || fail "not meant to be installed: $unwanted"

# It finds its models from another folder.
cd /
program=$root/usr/bin/decoderscope
[ "$("$program" models | wc -l)" -ge 11 ] || fail "it lists no models"
"$program" trace reverse --text abc --out "$root/trace.safetensors" || fail "it can't run a model"
[ -s "$root/trace.safetensors" ] || fail "it wrote no trace"

# They are the installed ones: a damaged one is named by its place.
echo damaged >"$root/usr/share/decoderscope/models/dates/model.safetensors"
said=$("$program" trace dates --out "$root/dates.safetensors" 2>&1) && fail "it ran a damaged model"
case $said in
*"$root/usr/"*) ;;
*) fail "it did not run the installed model, but said: $said" ;;
esac

# The manual page and the completions are of use to whoever reads them.
if command -v man >/dev/null; then
    warned=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$root/usr/share/man/man1/decoderscope.1.gz" 2>&1 >/dev/null)
    [ -z "$warned" ] || fail "the manual page: $warned"
fi
# What bash offers for a line: offered WORD...
offered() {
    bash -c '. "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _decoderscope; printf "%s\n" "${COMPREPLY[@]}"' \
        "$root/usr/share/bash-completion/completions/decoderscope" "$@"
}
if command -v bash >/dev/null; then
    offered decoderscope tr | grep -qx trace || fail "bash offers no command"
    offered decoderscope trace --dro | grep -qx -e --dropout-seed || fail "bash offers no option of a command"
    offered decoderscope export rev | grep -qx reverse-post-norm || fail "bash offers no model"
    offered decoderscope trace --out "$root/tr" | grep -qx "$root/trace.safetensors" || fail "bash offers no file"
    [ -z "$(offered decoderscope generate --seed '')" ] || fail "bash offers something for a number"
fi
for shell in zsh fish; do
    command -v $shell >/dev/null || continue
    case $shell in
    zsh) script=$root/usr/share/zsh/vendor-completions/_decoderscope ;;
    fish) script=$root/usr/share/fish/vendor_completions.d/decoderscope.fish ;;
    esac
    $shell -n "$script" || fail "$shell can't read its completions"
done
exit $failed
