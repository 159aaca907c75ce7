#!/bin/sh
# Draws the pictures of README and docs anew, from the program as it is, in a window of 1280 × 800 under Xvfb: run it before each
# release, and look at what it made.
#   scripts/pictures.sh            into docs/pictures, with build/release/decoderscope
#   scripts/pictures.sh FOLDER [PROGRAM] [NAME ...]    elsewhere; of another program; only these
# browser.png is the page's: it is drawn in Chromium if scripts/browser.sh has built the page.
# notebook.png is taken by hand. Those of docs/bisect.md are recorded first: without PyTorch they are
# left out, and that is said.
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

# Opens the window with a home of its own, which may have been filled: start ARGUMENT ...
start() {
    env -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$home" "$program" "$@" >"$work/program.log" 2>&1 &
    running=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 0.5
        xdotool search --onlyvisible --name . >/dev/null 2>&1 && break
    done
    kill -0 "$running" 2>/dev/null || { cat "$work/program.log" >&2; exit 1; }
    xdotool search --onlyvisible --name . windowmove 0 0 windowsize 1280 800 2>/dev/null || true
    xdotool mousemove 4 60 # nothing is there
    sleep 3
}

# Opens the page, as scripts/browser.sh has built it, on a session: start_page FILE
start_page() {
    python3 - "$root/build/browser/site" "$1" >"$work/address" <<'PYTHON' &
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
    xdotool mousemove 4 60
    sleep 15
}

# ---- what a row does

# The settings of a reader who knows the window, or meets it; and Ada's progress: on a lesson's last page, and behind what
# another asks again.
settings() {
    case $1 in
        first) echo '{"dark": true, "language": "en"}' ;;
        zh) echo '{"introduction_closed": true, "dark": true, "language": "zh_CN"}' ;;
        *) echo '{"introduction_closed": true, "dark": true, "language": "en"}' ;;
    esac
}

progress='{"learner": {"name": "Ada", "seed": 0},
 "lessons": {"text": {"page": 3, "questions": {"count": {"right": true, "tries": 1, "hints": 0}}}, "weight": {"page": 1, "questions": {"how-much": {"right": false, "tries": 0, "hints": 0}}}}}'

# A gesture: click:X,Y, move:X,Y, wheel:NOTCHES down, type:TEXT, wait:SECONDS, or a key.
gesture() {
    case $1 in
        click:*) xdotool mousemove $(echo "${1#click:}" | tr , ' '); sleep 0.3; xdotool click 1; sleep 1.5 ;;
        move:*) xdotool mousemove $(echo "${1#move:}" | tr , ' ') ;;
        wheel:*) xdotool click --repeat "${1#wheel:}" --delay 50 5; sleep 1.5 ;;
        type:*) xdotool type --delay 40 "${1#type:}"; sleep 0.5 ;;
        wait:*) sleep "${1#wait:}" ;;
        *) xdotool key "$1"; sleep 1 ;;
    esac
}

# The recordings of docs/bisect.md: one with the mistake, one without. Without PyTorch there are none.
record_tutorial() {
    . "$root/scripts/python_with_torch.sh"
    [ -n "$python" ] || { echo "no python3 with torch: pictures of recordings are left out" >&2; return 1; }
    "$program" recorder >record.py
    cp "$root/tests/reference/bugs/tutorial.py" .
    export OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
    $python tutorial.py trace.safetensors && $python tutorial.py fixed.safetensors --fixed
}
recorded=
is_recorded() {
    [ -n "$recorded" ] || { recorded=no; record_tutorial && recorded=yes; }
    [ $recorded = yes ]
}

# A picture: NAME SETTINGS ARGUMENTS GESTURES. Arguments that begin with "{" are the members of a session's file.
picture() {
    [ -z "$wanted" ] || case " $wanted " in *" $1 "*) ;; *) return 0 ;; esac
    case $3 in *safetensors*) is_recorded || return 0 ;; esac
    home=$work/$1
    mkdir -p "$home/.config/decoderscope"
    settings "$2" >"$home/.config/decoderscope/settings.json"
    [ "$2" = first ] || echo "$progress" >"$home/.config/decoderscope/lessons.json"
    arguments=$3
    case $3 in
        {*)
            printf '{"format": "decoderscope-session", "version": 1, %s' "${3#\{}" >state.dscope
            arguments=state.dscope
            ;;
    esac
    case $2 in
        page) [ -d "$root/build/browser/site" ] || return 0; start_page "$arguments" ;;
        # shellcheck disable=SC2086 # words
        *) start $arguments ;;
    esac
    for one in $4; do gesture "$one"; done
    shot "$1"
    stop
    [ "$2" != page ] || kill "$site"
}

trim() { printf '%s' "$1" | sed 's/^ *//; s/ *$//'; }

# NAME | settings, or "page" | arguments, or a session | gestures. No member of a session has a "|" in it.
while IFS='|' read -r name chosen arguments gestures; do
    name=$(trim "$name")
    case $name in '' | \#*) continue ;; esac
    picture "$name" "$(trim "$chosen")" "$(trim "$arguments")" "$(trim "$gestures")" </dev/null
done <<'ROWS'
first        | first | |
window       | known | {"model": {"bundled": "reverse"}, "cursor": {"step": "blocks.1.cross_attn.pattern", "batch": 0, "head": 3, "cell": [0, 3, 4, 3]}, "tab": "step"} |
browser      | page  | {"model": {"bundled": "reverse"}, "cursor": {"step": "blocks.1.cross_attn.pattern", "batch": 0, "head": 3}, "tab": "step"} |
heads        | known | {"model": {"bundled": "reverse"}, "cursor": {"step": "blocks.1.cross_attn.pattern", "batch": 0, "head": 3}, "tab": "heads"} | Return
masks        | known | {"model": {"bundled": "reverse"}, "cursor": {"step": "blocks.1.attn.pattern", "batch": 0, "head": 3}, "tab": "masks"} |
canvas       | known | {"model": {"bundled": "reverse"}, "edits": [{"edit": "scale_head", "attention": "blocks.0.cross_attn", "head": 1, "factor": 0.0}], "cursor": {"step": "blocks.1.cross_attn.pattern", "batch": 0, "head": 3, "cell": [0, 3, 4, 3]}, "tab": "canvas", "labs": {"canvas": {"weights": false}}} | wait:3
norms        | known | {"model": {"bundled": "reverse"}, "cursor": {"step": "blocks.1.ln2.normalized", "batch": 0, "head": 3}, "tab": "norms"} |
diff         | known | {"model": {"bundled": "reverse"}, "edits": [{"edit": "scale_head", "attention": "blocks.1.cross_attn", "head": 3, "factor": 0.0}], "cursor": {"step": "blocks.1.cross_attn_out", "batch": 0, "head": 3}, "tab": "diff"} |
generate     | known | {"model": {"bundled": "verses"}, "sampling": {"temperature": 1.2, "top_k": 12, "top_p": 0.95, "seed": 3}, "cursor": {"step": "logits", "batch": 0, "head": 0}, "tab": "generate"} |
# Messages is the second button, Beams the third, Draft the fourth, and Logit lens the seventh.
passes       | known | {"model": {"bundled": "verses"}, "passes": {"sizes": [9, 1, 8], "shown": 1}, "edits": [{"edit": "set_cell", "tensor": "blocks.1.attn.k_kept", "index": [0, 2, 4, 3], "value": 25}], "cursor": {"step": "blocks.1.attn.k_kept", "batch": 0, "head": 2, "cell": [0, 2, 4, 3]}, "tab": "generate"} |
messages     | known | {"model": {"bundled": "verses"}, "cursor": {"step": "logits", "batch": 0, "head": 0}, "tab": "generate"} | click:119,243 click:465,347
beams        | known | {"model": {"bundled": "verses"}, "cursor": {"step": "logits", "batch": 0, "head": 0}, "tab": "generate"} | click:206,243
draft        | known | {"model": {"bundled": "verses"}, "cursor": {"step": "logits", "batch": 0, "head": 0}, "tab": "generate"} | click:281,243
lens         | known | {"model": {"bundled": "verses"}, "cursor": {"step": "logits", "batch": 0, "head": 0}, "tab": "generate"} | click:558,243
presentation | known | {"model": {"bundled": "words"}, "cursor": {"step": "blocks.1.attn.pattern", "batch": 0, "head": 2, "cell": [0, 2, 5, 3]}, "tab": "step"} | F11
export       | known | {"model": {"bundled": "words"}, "cursor": {"step": "blocks.1.attn.pattern", "batch": 0, "head": 2}, "tab": "step"} | ctrl+e click:1027,222 click:880,290 type:8.5 click:880,343 move:4,60
# The answer's field, which is at another height in each language.
lesson       | known | --lesson weight | click:1019,722 type:0.5 Return
lesson-zh    | zh    | --lesson weight | click:1020,625 type:0.5 Return
# Skip, and Hand in, at the end of the page.
lesson-handin | known | --lesson text | move:1100,600 wheel:20 click:986,621 move:4,60
lesson-first | first | --lesson text | click:1020,568 type:15 Return click:988,654 move:4,60
gallery      | known | --lesson gallery/too-good | ctrl+p type:blocks.0.attn.mask Return
recording    | known | {"model": {"path": "trace.safetensors", "trace": true}, "cursor": {"step": "layers.0.attention/softmax/out", "batch": 0, "head": 0, "cell": [0, 0, 4, 3]}, "tab": "step"} |
bisect       | known | {"model": {"path": "trace.safetensors"}, "cursor": {"step": "blocks.0.attn.pattern", "batch": 0, "head": 0}, "tab": "diff", "compare": {"with": "bisect", "tolerance": 0, "file": "trace.safetensors"}} | wait:4
bisect-fixed | known | {"model": {"path": "fixed.safetensors"}, "cursor": {"step": "blocks.0.attn.pattern", "batch": 0, "head": 0}, "tab": "diff", "compare": {"with": "bisect", "tolerance": 0, "file": "fixed.safetensors"}} | wait:4
ROWS
