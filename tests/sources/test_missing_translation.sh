#!/bin/sh
# A text without a translation warns and passes; before a release it fails. A translation with other places always fails.
#   test_missing_translation.sh ROOT
set -eu
command -v xgettext >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/scripts" "$folder/engine" "$folder/app" "$folder/assets/messages"
cp "$1/scripts/messages.sh" "$folder/scripts/"
echo '[]' >"$folder/assets/glossary.json"
messages="sh $folder/scripts/messages.sh"
german=$folder/assets/messages/de.po

fail() {
    echo "$1" >&2
    cat "$folder/said" >&2
    exit 1
}
# Whether a check passes, fails, and says a text: passes|fails TEXT ARGUMENT...
passes() {
    text=$1 && shift
    $messages --check "$@" >"$folder/said" 2>&1 || fail "--check $* failed; expected it to pass"
    grep -qF "$text" "$folder/said" || fail "expected: $text"
}
fails() {
    text=$1 && shift
    ! $messages --check "$@" >"$folder/said" 2>&1 || fail "--check $* passed; expected it to fail"
    grep -qF "$text" "$folder/said" || fail "expected: $text"
}

echo 'auto text = tr("Written to {path}", {});' >"$folder/app/tab.cpp"
$messages
printf '%s\n' 'msgid ""' 'msgstr ""' '"Language: de\n"' '"MIME-Version: 1.0\n"' '"Content-Type: text/plain; charset=UTF-8\n"' \
    '"Content-Transfer-Encoding: 8bit\n"' >"$german"
$messages
passes 'de.po: warning: not translated:'
fails 'de.po: not translated:' --complete
sed -i '/Written to/{n;s/.*/msgstr "Steht in {path}"/}' "$german"
passes ''
passes '' --complete
sed -i 's/Steht in {path}/Steht in {file}/' "$german"
fails '{path} is missing: Written to {path}'
echo 'auto more = tr("Being measured");' >>"$folder/app/tab.cpp"
fails 'decoderscope.pot is out of date'
