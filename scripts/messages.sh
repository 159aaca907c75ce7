#!/bin/sh
# Collects every text of the window into assets/messages/decoderscope.pot, and brings the translations, *.po beside it, up to
# date with it: new messages are added untranslated, unused ones are removed.
#   scripts/messages.sh            writes them
#   scripts/messages.sh --check    fails if one is out of date, or a translation has other placeholders than the English; warns
#                                  of messages that are not translated, which the window shows in English
#   scripts/messages.sh --check --complete    before a release: fails if any is not translated, or fuzzy
# Needs gettext's tools (Debian: gettext). How to translate: docs/languages.md
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
pot=assets/messages/decoderscope.pot

collect() {
    # The texts of assets and of the book of formulas, written as a source has them.
    as_source=$(mktemp -d)
    assets=$(ls assets/glossary.json assets/tables/*.json assets/models/*/example.json engine/formulas/book.txt 2>/dev/null || true)
    for asset in $assets; do
        mkdir -p "$as_source/$(dirname "$asset")"
        sed -nE -e 's/^(# ---- |! [^:]*: )([^#]*[^ #]).*/message("\2")/p' -e 's/.*"(name|meaning|spellings|why|description|title|look|teaches|cause)": ("([^"\\]|\\.)+").*/message(\2)/p' "$asset" >"$as_source/$asset"
    done
    { find engine app -name '*.h' -o -name '*.cpp'; printf '%s\n' $assets; } | LC_ALL=C sort |
        xgettext --files-from=- --directory="$as_source" --directory=. --language=C++ --from-code=UTF-8 --output=- \
            --keyword --keyword=Sentence --keyword=tr --keyword=tr_n:1,2 \
            --keyword=message --keyword=message_n:1,2 --keyword=message_c:1c,2 --keyword=Error \
            --flag=tr:1:no-c-format --flag=tr_n:1:no-c-format --flag=tr_n:2:no-c-format \
            --flag=message:1:no-c-format --flag=message_n:1:no-c-format --flag=message_n:2:no-c-format \
            --flag=Error:1:no-c-format --flag=Sentence:1:no-c-format \
            --no-wrap --add-comments='Translators:' --add-location=file --sort-by-file \
            --package-name=decoderscope --copyright-holder='the authors of Decoderscope' |
        # The date would change the file every time.
        sed '/^"POT-Creation-Date:/d'
    rm -r "$as_source"
}

# A translation with the messages of the template: merged TRANSLATION TEMPLATE
merged() {
    msgmerge --quiet --no-fuzzy-matching --no-wrap --add-location=file --output-file=- "$1" "$2" |
        msgattrib --no-obsolete --no-wrap --add-location=file --output-file=- | sed '/^"POT-Creation-Date:/d'
}

# The placeholders ({name}) that a translation lacks or adds, one message per line. Any plural form may omit {count}: "one
# step".
wrong_places() {
    msgattrib --no-wrap --no-obsolete "$1" | awk '
        function unquoted(line) { sub(/^[^"]*"/, "", line); sub(/"$/, "", line); return line }
        function places(text, found,    count) {
            count = 0
            while (match(text, /\{[a-z][a-z0-9_]*\}/)) {
                found[substr(text, RSTART, RLENGTH)] = 1
                text = substr(text, RSTART + RLENGTH)
                count++
            }
            return count
        }
        function compare(    i, place, wanted, given) {
            places(text["msgid"] text["msgid_plural"], wanted)
            for (i = 0; i < forms && text["msgid"] != ""; i++) {
                if (text["msgstr" i] == "") continue
                split("", given)
                places(text["msgstr" i], given)
                for (place in wanted)
                    if (!(place in given) && !("msgid_plural" in text && place == "{count}"))
                        print "  " place " is missing: " text["msgid"]
                for (place in given)
                    if (!(place in wanted)) print "  " place " is not in the English: " text["msgid"]
            }
            split("", text)
            forms = 0
        }
        /^msgctxt/ || (/^msgid / && forms > 0) { if (forms > 0) compare() }
        /^msgctxt/ { key = "msgctxt"; text[key] = unquoted($0) }
        /^msgid / { key = "msgid"; text[key] = unquoted($0) }
        /^msgid_plural/ { key = "msgid_plural"; text[key] = unquoted($0) }
        /^msgstr/ { key = "msgstr" forms++; text[key] = unquoted($0) }
        /^"/ { text[key] = text[key] unquoted($0) }
        END { compare() }'
}

# Whether a translation is up to date and correct, and with --complete whether nothing is left to translate:
# check TRANSLATION TEMPLATE
check() {
    right=0
    merged "$1" "$2" | diff -u "$1" - >/dev/null || {
        echo "$1 is out of date: scripts/messages.sh" >&2
        right=1
    }
    msgfmt --check-header --check-domain --output-file=/dev/null "$1" || right=1
    untranslated=$(merged "$1" "$2" | msgattrib --untranslated --no-wrap | sed -n '/^$/,$s/^msgid "/  "/p')
    fuzzy=$(msgattrib --only-fuzzy --no-wrap "$1" | sed -n '/^$/,$s/^msgid "/  "/p')
    places=$(wrong_places "$1")
    [ -z "$untranslated" ] || {
        printf '%s: %snot translated:\n%s\n' "$1" "$as_warning" "$untranslated" >&2
        [ -n "$as_warning" ] || right=1
    }
    [ -z "$fuzzy" ] || {
        printf '%s: %sfuzzy:\n%s\n' "$1" "$as_warning" "$fuzzy" >&2
        [ -n "$as_warning" ] || right=1
    }
    [ -z "$places" ] || {
        printf '%s: wrong placeholders:\n%s\n' "$1" "$places" >&2
        right=1
    }
    return $right
}

if [ "${1:-}" = --check ]; then
    as_warning="warning: "
    [ "${2:-}" != --complete ] || as_warning=""
    command -v xgettext >/dev/null || {
        echo "xgettext is missing (Debian: gettext): not checked"
        exit 77
    }
    failed=0
    collect | diff -u "$pot" - || {
        echo "$pot is out of date: scripts/messages.sh" >&2
        failed=1
    }
    for po in assets/messages/*.po; do
        [ ! -e "$po" ] || check "$po" "$pot" || failed=1
    done
    exit $failed
fi
mkdir -p "$(dirname "$pot")"
collect >"$pot.part"
msgfmt --check --output-file=/dev/null "$pot.part" 2>/dev/null || msgfmt --check-format --output-file=/dev/null "$pot.part"
mv "$pot.part" "$pot"
for po in assets/messages/*.po; do
    [ -e "$po" ] || continue
    merged "$po" "$pot" >"$po.part"
    mv "$po.part" "$po"
    left=$(msgattrib --untranslated "$po" | grep -c '^msgstr' || true)
    [ "$left" -le 1 ] || echo "$po: warning: $((left - 1)) texts are not translated, and are shown in English" >&2
done
