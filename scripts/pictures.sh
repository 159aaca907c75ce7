#!/bin/sh
# Draws the pictures of the README anew, from the program as it is, in a window of 1280 × 800 under Xvfb: run it before each
# release, and look at what it made.
#   scripts/pictures.sh            into docs/pictures, with build/release/decoderscope
#   scripts/pictures.sh FOLDER [PROGRAM] [NAME ...]    elsewhere; of another program; only these
# browser.png is the page's: it is drawn in Chromium if scripts/browser.sh has built the page. Those of docs/bisect.md need
# PyTorch to record, and lesson-handin.png a folder of one's own: they are taken by hand.
# Needs Xvfb, xdotool and python3 (Debian: xvfb xdotool python3).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "${1:-$root/docs/pictures}" && cd "${1:-$root/docs/pictures}" && pwd)
program=${2:-$root/build/release/decoderscope}
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
[ $# -lt 2 ] || shift
[ $# -eq 0 ] || shift
wanted="$*"
for tool in Xvfb xdotool python3; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
work=$(mktemp -d)
display=:$((90 + $$ % 900))
Xvfb "$display" -screen 0 1280x800x24 -fbdir "$work" >"$work/xvfb.log" 2>&1 &
server=$!
running=
stop() {
    [ -z "$running" ] || kill "$running" 2>/dev/null || true
    [ -z "$running" ] || wait "$running" 2>/dev/null || true
    running=
}
trap 'stop; kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
export DISPLAY="$display" LIBGL_ALWAYS_SOFTWARE=1
cd "$work"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    xdotool getdisplaygeometry >/dev/null 2>&1 && break
    sleep 0.5
done

# What Xvfb holds (an XWD file) as a PNG: shot NAME
shot() {
    sleep 1
    python3 - "$work/Xvfb_screen0" "$folder/$1.png" <<'PYTHON'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
header = struct.unpack(">25I", data[:100])
begin, width, height, line, colors = header[0], header[4], header[5], header[12], header[19]
pixels = data[begin + colors * 12:]
rows = bytearray()
for y in range(height):
    row = pixels[y * line:y * line + width * 4]
    rgb = bytearray(width * 3)
    rgb[0::3], rgb[1::3], rgb[2::3] = row[2::4], row[1::4], row[0::4]
    rows += b"\0" + rgb
def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
with open(sys.argv[2], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))
PYTHON
    echo "$1.png"
}

# Opens the window with a home of its own: start HOME-SETTINGS ARGUMENT ...
start() {
    home=$(mktemp -d -p "$work")
    mkdir -p "$home/.config/decoderscope"
    [ -z "$1" ] || printf '%s' "$1" >"$home/.config/decoderscope/settings.json"
    shift
    env -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$home" "$program" "$@" >"$work/program.log" 2>&1 &
    running=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 0.5
        xdotool search --onlyvisible --name . >/dev/null 2>&1 && break
    done
    kill -0 "$running" 2>/dev/null || { cat "$work/program.log" >&2; exit 1; }
    xdotool search --onlyvisible --name . windowmove 0 0 windowsize 1280 800 2>/dev/null || true
    xdotool mousemove 800 22 # nothing is there
    sleep 3
}
key() { xdotool key "$@"; sleep 1; }
click() { xdotool mousemove "$1" "$2"; sleep 0.3; xdotool click 1; sleep 1.5; }
write() { xdotool type --delay 40 "$1"; sleep 0.5; }

known='{"calm": false, "hint_done": true, "introduction_closed": true, "dark": true, "language": "en"}'
chinese='{"calm": false, "hint_done": true, "introduction_closed": true, "dark": true, "language": "zh_CN"}'

# A session on a bundled model: session MODEL STEP TAB MORE, where MORE is further JSON, each with its comma.
session() {
    cat >"$work/state.dscope" <<JSON
{"format": "decoderscope-session", "version": 1, "model": {"bundled": "$1"}, ${4:-}
 "cursor": {"step": "$2", "batch": 0, "head": ${5:-3}${6:-}}, "tab": "$3"}
JSON
}

# picture NAME: whether it is wanted.
picture() { [ -z "$wanted" ] || case " $wanted " in *" $1 "*) ;; *) return 1 ;; esac; }

if picture first; then
    start '{"calm": true, "dark": true, "language": "en"}'
    shot first
    stop
fi
if picture window; then
    session reverse blocks.1.cross_attn.pattern step '' 3 ', "cell": [0, 3, 4, 3]'
    start "$known" state.dscope
    shot window
    stop
fi
if picture heads; then
    session reverse blocks.1.cross_attn.pattern heads
    start "$known" state.dscope
    key Return
    shot heads
    stop
fi
if picture masks; then
    session reverse blocks.1.attn.pattern masks
    start "$known" state.dscope
    shot masks
    stop
fi
if picture norms; then
    session reverse blocks.1.ln2.normalized norms
    start "$known" state.dscope
    shot norms
    stop
fi
if picture diff; then
    session reverse blocks.1.cross_attn_out diff \
        '"edits": [{"edit": "scale_head", "attention": "blocks.1.cross_attn", "head": 3, "factor": 0.0}],'
    start "$known" state.dscope
    shot diff
    stop
fi
if picture generate; then
    session verses logits generate '"sampling": {"temperature": 1.2, "top_k": 12, "top_p": 0.95, "seed": 3},' 0
    start "$known" state.dscope
    shot generate
    stop
fi
if picture lens; then
    session verses logits generate '' 0
    start "$known" state.dscope
    click 471 233 # Logit lens
    shot lens
    stop
fi
if picture presentation; then
    session reverse blocks.1.cross_attn.pattern step
    start "$known" state.dscope
    key F11
    xdotool mousemove 600 330
    shot presentation
    stop
fi
for language in en zh; do
    suffix='' settings=$known field=585 # where the answer is typed
    [ $language = en ] || suffix=-zh settings=$chinese field=486
    if picture "lesson$suffix"; then
        start "$settings" --lesson weight
        click 1022 "$field"
        write 0.5
        key Return
        shot "lesson$suffix"
        stop
    fi
    if picture "gallery$suffix"; then
        start "$settings" --lesson gallery/too-good
        key ctrl+p
        write blocks.0.attn.mask
        key Return
        shot "gallery$suffix"
        stop
    fi
done
if picture browser && [ -d "$root/build/browser/site" ]; then
    session reverse blocks.1.cross_attn.pattern step
    python3 - "$root/build/browser/site" "$work/state.dscope" >"$work/address" <<'PYTHON' &
import base64, functools, http.server, sys, zlib
site, session = sys.argv[1:]
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
link = base64.urlsafe_b64encode(zlib.compress(open(session, "rb").read())).decode().rstrip("=")
print(f"http://127.0.0.1:{server.server_port}/#s1={link}", flush=True)
server.serve_forever()
PYTHON
    site=$!
    sleep 2
    chromium --no-sandbox --no-first-run --kiosk --window-size=1280,800 --window-position=0,0 --user-data-dir="$work/chromium" \
        --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist \
        "$(cat "$work/address")" >"$work/chromium.log" 2>&1 &
    running=$!
    xdotool mousemove 800 22
    sleep 15
    shot browser
    stop
    kill "$site"
fi
