#!/bin/sh
# ./run.sh where a package is missing: without root, beside another installation, when compiling fails, and interrupted.
# For a bare machine on which it has run (scripts/bare.sh), as it removes packages and adds a person. Fonts are what the
# program does without, and no test of it needs them again.
set -eu
failed=0
said=$(mktemp)
chmod 666 "$said"

fail() {
    echo "FAILED: $1" >&2
    cat "$said" >&2
    failed=1
}

# Whether the last command said a text just once: says TEXT
says() {
    [ "$(grep -cF -- "$1" "$said")" -eq 1 ] || fail "expected once: $1"
}

# Processes of these names: are_running NAME...
are_running() {
    for name in "$@"; do
        grep -lsx "Name:[[:space:]]*$name" /proc/[0-9]*/status && return
    done
    return 1
}

remove_a_font() {
    apt-get remove -qq --yes fonts-inter >/dev/null 2>&1
}

is_there() {
    dpkg-query --show --showformat='${db:Status-Status}' fonts-inter 2>/dev/null | grep -qx installed
}

# ---- another person than root, without sudo
# The clone and what was built in it, but for the compiler of the page: a machine of its own, in a folder.
owned_by() {
    find . -xdev -path ./build/browser/toolchain -prune -o -exec chown -h "$1" {} +
}
useradd --create-home newcomer 2>/dev/null || true
owned_by newcomer
as_newcomer() {
    su newcomer -c "$1" >"$said" 2>&1
}
as_newcomer "./run.sh models" || fail "without root, ./run.sh doesn't run what is built"
grep -q '^reverse ' "$said" || fail "without root, ./run.sh models lists no models"
! grep -q 'apt-get install' "$said" || fail "nothing is missing, and something is asked for"
remove_a_font
as_newcomer "./run.sh models" || fail "without root, ./run.sh doesn't go on without a font"
says "As root, run: apt-get install fonts-inter"
grep -q '^reverse ' "$said" || fail "without root and a font, ./run.sh models lists no models"
! as_newcomer "./test.sh bare true" || fail "without root, ./test.sh bare succeeds"
[ "$(wc -l <"$said")" -eq 1 ] || fail "without root, ./test.sh bare doesn't say why in a sentence"
owned_by root

# ---- beside another installation, which holds the package database for some seconds
perl -MFcntl -e 'open my $file, ">", "/var/lib/dpkg/lock-frontend" or die;
    my $lock = pack "s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0;
    fcntl $file, F_SETLK, $lock or die; sleep 6' &
sleep 1
./run.sh models >"$said" 2>&1 || fail "./run.sh doesn't wait for another installation"
wait
says "Waiting for another program to finish with the package database"
is_there || fail "./run.sh has not installed what was missing"

# ---- compiling fails, while packages are being installed
remove_a_font
changed=app/cli.cpp
before=$(mktemp)
cp -p $changed "$before"
echo '#error planted' >>$changed
! ./run.sh models >"$said" 2>&1 || fail "./run.sh succeeds with an error in the sources"
cp -p "$before" $changed
says "Compiling failed"
is_there || fail "./run.sh left an installation behind, or undone"
! are_running apt-get dpkg ninja cmake || fail "./run.sh left something running"

# ---- interrupted
remove_a_font
touch $changed
./run.sh models >"$said" 2>&1 &
interrupted=$!
tries=0
until are_running clang++ >/dev/null || [ $tries -eq 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $interrupted
! wait $interrupted || fail "interrupted, ./run.sh succeeds"
! are_running apt-get dpkg ninja cmake clang++ || fail "interrupted, ./run.sh left something running"
is_there || fail "interrupted, ./run.sh left an installation undone"
./run.sh models >"$said" 2>&1 || fail "./run.sh doesn't run after it was interrupted"

rm -f "$said" "$before"
exit $failed
