#!/bin/sh
# Collects every text of the window into assets/messages/decoderscope.pot, from which translations are made.
#   scripts/messages.sh            writes it
#   scripts/messages.sh --check    fails if it is out of date
# Needs gettext's xgettext (Debian: gettext).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
pot=assets/messages/decoderscope.pot

collect() {
    find engine app -name '*.h' -o -name '*.cpp' | LC_ALL=C sort |
        xgettext --files-from=- --language=C++ --from-code=UTF-8 --output=- \
            --keyword --keyword=Sentence --keyword=tr --keyword=tr_n:1,2 \
            --keyword=message --keyword=message_n:1,2 --keyword=message_c:1c,2 --keyword=Error \
            --flag=tr:1:no-c-format --flag=tr_n:1:no-c-format --flag=tr_n:2:no-c-format \
            --flag=message:1:no-c-format --flag=message_n:1:no-c-format --flag=message_n:2:no-c-format \
            --flag=Error:1:no-c-format --flag=Sentence:1:no-c-format \
            --no-wrap --add-comments='Translators:' --add-location=file --sort-by-file \
            --package-name=decoderscope --copyright-holder='the authors of Decoderscope' |
        # The date is of no use, and would change the file every time.
        sed '/^"POT-Creation-Date:/d'
}

if [ "${1:-}" = --check ]; then
    command -v xgettext >/dev/null || {
        echo "xgettext is missing (Debian: gettext): not checked"
        exit 77
    }
    collect | diff -u "$pot" - || {
        echo "$pot is out of date: scripts/messages.sh" >&2
        exit 1
    }
    exit 0
fi
mkdir -p "$(dirname "$pot")"
collect >"$pot.part"
msgfmt --check --output-file=/dev/null "$pot.part" 2>/dev/null || msgfmt --check-format --output-file=/dev/null "$pot.part"
mv "$pot.part" "$pot"
