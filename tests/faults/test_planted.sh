#!/bin/sh
# Each fault of this folder still finds its place in the sources: sh test_planted.sh. A second, where run.sh takes an hour.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
lost=0
for fault in "$here"/*.fault; do
    source=$root/$(sed -n 2p "$fault")
    if sed 1,2d "$fault" | sed --file=- "$source" | cmp -s - "$source"; then
        echo "$(basename "$fault"): not planted, its place in $source has changed" >&2
        lost=1
    fi
done
exit $lost
