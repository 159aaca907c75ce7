#!/bin/sh
# A machine that can't open a window says so in one sentence, with status 1: test_no_window.sh PROGRAM
program=$1
failed=0
unset DISPLAY WAYLAND_DISPLAY
said=$(mktemp)
trap 'rm -f "$said"; [ -z "$server" ] || kill "$server" 2>/dev/null' EXIT

# Runs the program and checks what it said: says WHAT-FOR STATUS SENTENCE...
says() {
    what=$1 status=$2
    shift 2
    [ "$status" -eq 1 ] || { echo "$what: ended with $status, expected 1"; failed=1; }
    [ "$(wc -l <"$said")" -eq 1 ] || { echo "$what: expected one line"; failed=1; }
    for part in "$@"; do
        grep -qF -- "$part" "$said" || { echo "$what: expected \"$part\""; failed=1; }
    done
    cat "$said"
}

"$program" 2>"$said"
says "without a display" $? "decoderscope: cannot open a window: there is no display" "DISPLAY" "--help"

DISPLAY=:4242 "$program" 2>"$said"
says "with a display that isn't there" $? "decoderscope: cannot open a window: there is no display" ":4242"

# Mesa can pretend to be older than it is; another driver can't.
folder=$(mktemp -d)
MESA_GL_VERSION_OVERRIDE=2.1 "$program" --tour "$folder" >/dev/null 2>"$said"
status=$?
rm -rf "$folder"
if [ "$status" -eq 0 ]; then
    echo "this driver can't pretend to have no OpenGL 3.3: not tested"
    exit $failed
fi
says "drawing without OpenGL 3.3" $status "decoderscope: cannot draw without a screen: EGL offers no OpenGL 3.3" "libgl1-mesa-dri"

if ! command -v Xvfb >/dev/null; then
    echo "there is no Xvfb: a display without OpenGL 3.3 is not tested"
    exit $failed
fi
number=$(mktemp)
Xvfb -displayfd 3 -screen 0 640x480x24 3>"$number" >/dev/null 2>&1 &
server=$!
tries=0
while [ ! -s "$number" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
DISPLAY=:$(cat "$number") MESA_GL_VERSION_OVERRIDE=2.1 "$program" 2>"$said"
says "with a display without OpenGL 3.3" $? "decoderscope: cannot open a window: this display offers no OpenGL 3.3" \
    "LIBGL_ALWAYS_SOFTWARE=1" "--help"
rm -f "$number"
exit $failed
