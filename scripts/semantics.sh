#!/bin/sh
# Writes the formulas of docs/semantics.md anew, as the program prints its book of them:
#   scripts/semantics.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/release/decoderscope}
page=docs/semantics.md
"$program" formulas --markdown >"$page.formulas"
awk -v formulas="$page.formulas" '
    /^<!-- the end of the formulas -->$/ { inside = 0 }
    !inside { print }
    /^<!-- the formulas -->$/ {
        inside = 1
        print ""
        while ((getline line < formulas) > 0) print line
    }' "$page" >"$page.part"
mv "$page.part" "$page"
rm "$page.formulas"
