#!/bin/sh
# Fails where a source is not laid out as .clang-format says: test_format.sh ROOT
# Other versions of clang-format lay out some lines differently, so only version 14 is asked. Without it, or outside a
# git checkout, the test is skipped (status 77).
cd "$1" || exit 1

for format in clang-format-14 clang-format; do
    "$format" --version 2>/dev/null | grep -q 'version 14\.' && break
    format=
done
if [ -z "$format" ]; then
    echo "Skipped: clang-format 14 is not installed."
    exit 77
fi
if ! git ls-files --error-unmatch .clang-format >/dev/null 2>&1; then
    echo "Skipped: this is not a git checkout."
    exit 77
fi
git ls-files -z -- '*.h' '*.cpp' | xargs -0 "$format" --dry-run -Werror
