#!/bin/sh
# What scripts/bare.sh does on a machine that has nothing: what the README tells a newcomer to type, all tests, and then what
# needs a machine of its own. Started in the clone.
#   tests/bare/everything.sh [PRESET ...]    of all tests only these, as ./test.sh takes them
set -eu
. scripts/steps.sh

step "./run.sh"
./run.sh
[ -n "$(ls out)" ] || { echo "./run.sh drew no tour into out/." >&2 && exit 1; }
[ $# -gt 0 ] || set -- ci
step "./test.sh $*"
./test.sh "$@"
step "The scripts, without root, beside another installation, and interrupted"
tests/bare/test_scripts.sh
step "The other commands of README and docs"
# A person's machine has sudo, and its person says yes.
apt-get install -qq --yes --no-install-recommends sudo >/dev/null 2>&1
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/99yes
build/release/tests/test_program "[on_a_bare_machine]"
step "A bare machine does all of it."
