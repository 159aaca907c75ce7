#!/bin/sh
# Tries the project on a machine that has nothing: a bare Debian, with apt and git in it, in a folder of its own, and a clone
# of the repository's HEAD in its folder /decoderscope.
#   scripts/bare.sh [--suite SUITE] [--keep] [--root FOLDER] [--in FOLDER] [--out FOLDER] [COMMAND ...]
# Without COMMAND it does what tests/bare/everything.sh does: the README's commands, all tests, the scripts' own tests.
#   --suite SUITE    Debian's release: bookworm (12) unless given; trixie is 13
#   --keep           leaves the folder, and says where it is
#   --root FOLDER    goes on in one that was kept; brings its clone up to HEAD
#   --in FOLDER      gives the command a copy of this folder, as /in
#   --out FOLDER     puts what the command leaves in /out into this folder
# The packages come from the mirror that this machine uses. Needs root, for what a person on a new machine has, too. Nothing
# that was started or mounted in there is left.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
. scripts/sources.sh
suite=bookworm keep="" machine="" given="" wanted=""
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=$2 && shift 2 ;;
    --keep) keep=yes && shift ;;
    --root) machine=$2 keep=yes && shift 2 ;;
    --in) given=$2 && shift 2 ;;
    --out) wanted=$2 && shift 2 ;;
    -*) echo "$1: not known to scripts/bare.sh, which says at its beginning what it knows" >&2 && exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || set -- tests/bare/everything.sh

if [ "$(id -u)" -ne 0 ]; then
    echo "A bare Debian is made by root: run this as root." >&2
    exit 1
fi

work=$(mktemp -d)
running=""
end() {
    # The first process in there takes all others with it.
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
    wait || true
    [ -n "$keep" ] || rm -rf --one-file-system "${machine:-$work}"
    rm -rf --one-file-system "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

make_machine() {
    command -v mmdebstrap >/dev/null || install mmdebstrap ||
        { echo "Without mmdebstrap there is no bare Debian to try this in." >&2 && exit 1; }
    step "A bare Debian: $suite"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { apt_get update && mirror=$(debian_mirror); }
    machine=$(mktemp -d)
    quietly mmdebstrap --variant=apt --include=ca-certificates,git "$suite" "$machine" "$mirror"
    # How this machine reaches the mirror.
    cp -r /etc/apt/apt.conf.d/. "$machine/etc/apt/apt.conf.d/"
    # And the web: whose certificates it takes beside those that all take.
    if [ -d /usr/local/share/ca-certificates ]; then
        mkdir -p "$machine/usr/local/share/ca-certificates"
        cp -r /usr/local/share/ca-certificates/. "$machine/usr/local/share/ca-certificates/"
        quietly chroot "$machine" update-ca-certificates
    fi
    while read -r name major minor; do
        [ -e "$machine/dev/$name" ] || mknod -m 666 "$machine/dev/$name" c "$major" "$minor"
    done <<DEVICES
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
DEVICES
    ln -sfn /proc/self/fd "$machine/dev/fd"
    ln -sfn pts/ptmx "$machine/dev/ptmx"
    mkdir -p "$machine/dev/shm" "$machine/dev/pts"
}

# The repository as it is committed. Its owner may be another person than root.
clone() {
    [ -z "$(git -c safe.directory="$root" status --porcelain)" ] || echo "What is not committed is not tried." >&2
    printf '[safe]\n    directory = *\n' >"$work/gitconfig"
    GIT_CONFIG_GLOBAL=$work/gitconfig git clone --quiet --bare --depth 1 "file://$root" "$machine/repository.new"
    rm -rf "$machine/repository"
    mv "$machine/repository.new" "$machine/repository"
}

# Runs a command in there, as the first thing that root does after logging in. What it mounts is seen by nobody else.
run() {
    cp /etc/resolv.conf "$machine/etc/resolv.conf" 2>/dev/null || true
    # shellcheck disable=SC2016 # the inner shells expand
    unshare --mount --pid --fork --kill-child /bin/sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
            mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts" || exit 1
        exec chroot "$@"' sh "$machine" \
        /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${TERM:+TERM="$TERM"} ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        /bin/sh -c '
        if [ -e /decoderscope ]; then
            cd /decoderscope && git fetch --quiet --depth 1 origin HEAD && git reset --quiet --hard FETCH_HEAD
        else
            git clone --quiet /repository /decoderscope
        fi && cd /decoderscope && exec "$@"' sh "$@" <&3 &
    running=$!
    code=0
    wait $running || code=$?
    running=""
    return $code
}

[ -n "$machine" ] || make_machine
clone
[ -z "$keep" ] || echo "The bare Debian is in $machine." >&2
[ -n "${1:-}" ] && step "In a bare Debian: $*"
if [ -n "$given" ]; then
    rm -rf "$machine/in"
    cp -r "$given" "$machine/in"
fi
if [ -t 0 ]; then exec 3<&0; else exec 3</dev/null; fi
run "$@"
if [ -n "$wanted" ]; then
    mkdir -p "$wanted"
    cp -r "$machine/out/." "$wanted/"
fi
