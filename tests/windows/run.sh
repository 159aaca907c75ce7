#!/bin/sh
# Builds the program for Windows (scripts/windows.sh) and tries it under Wine: Catch2's tests of engine, core, threads and views,
# the fuzzers' seeds, the command line, every reference configuration against PyTorch, exports and pictures of every tab beside
# those of the program for Linux, paths, errors, the window, Windows' settings, keyboard, clipboard, dialog for files and
# dropped files, the installer.
#   tests/windows/run.sh [--without-onednn]    builds it first, as scripts/windows.sh does
#   tests/windows/run.sh --built [PART ...]    tries what is built already, or only these parts of it (the list at the end)
# DESKTOP=PROGRAM: the program for Linux of the same sources, build/release/decoderscope unless given; without it exports and
# pictures are not compared.
# Pictures of the window are left in build/windows/pictures, to be looked at.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
. scripts/packages.sh
. scripts/steps.sh
if [ "${1:-}" = --built ]; then
    shift
else
    DECODERSCOPE_WINDOWS_TESTS=ON scripts/windows.sh "$@"
    set --
fi
install wine wine64 xvfb xdotool imagemagick python3 python3-xlib
built=$root/build/windows
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
desktop=${DESKTOP:-$root/build/release/decoderscope}
work=$(mktemp -d)
pictures=$built/pictures
mkdir -p "$pictures"
failed=0

# A Windows of its own, without a desktop, sounds or Mono.
export WINEPREFIX="$work/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" LC_ALL=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY
screens=""
end() {
    wineserver -k 2>/dev/null || true
    # shellcheck disable=SC2086 # numbers of processes
    [ -z "$screens" ] || kill $screens 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

fail() {
    echo "FAILED: $1" >&2
    failed=1
}

# The program with a console, and that of the window, in a folder with a space and characters beyond any code page.
place="$work/Programme für 模型"
place_it() {
    mkdir -p "$place"
    cp -r "$built/Decoderscope/." "$place/"
    mkdir "$WINEPREFIX"
    wineserver -p # stays: else Windows would start anew for each command
    wineboot -i >"$work/said" 2>&1 # into a file: Windows' services hold what it writes to as long as they run
    wine winecfg -v win10 >"$work/said" 2>&1
    mkdir "$model"
    for file in config.json model.safetensors; do cp "assets/models/reverse/$file" "$model/"; done
    cp assets/models/reverse/*vocabulary.json "$model/"
}
model="$work/saved"

console() { wine "$place/decoderscope.com" "$@"; }

# It ends with that status and says that text: says WHAT STATUS TEXT ARGUMENT...
says() {
    what=$1 status=$2 text=$3
    shift 3
    console "$@" >"$work/said" 2>&1 && ended=0 || ended=$?
    [ "$ended" -eq "$status" ] || fail "$what: ended with $ended, expected $status: $(cat "$work/said")"
    [ -z "$text" ] || grep -qF -- "$text" "$work/said" || fail "$what: expected \"$text\", it said: $(head -c 600 "$work/said")"
}

shot() {
    import -window root "$pictures/$1.png"
    colours=$(identify -format %k "$pictures/$1.png")
    [ "$colours" -gt "$2" ] || fail "$1: a picture of $colours colours, expected more than $2"
    echo "  $pictures/$1.png: $colours colours"
}

wait_for_window() {
    for _ in $(seq 60); do
        xdotool search --onlyvisible --name "$1" >/dev/null 2>&1 && return
        sleep 1
    done
    fail "no window named $1"
}

restart_windows() {
    wineserver -k -w 2>/dev/null || true
    wineserver -p
}

# A screen for windows, larger than they are: start_screen NUMBER [SIZE [OPTION...]]
start_screen() {
    # shellcheck disable=SC2086 # options are words
    Xvfb ":$1" -screen 0 "${2:-1440x960x24}" -dpi 96 ${3:-} >/dev/null 2>&1 &
    screens="$screens $!"
    export DISPLAY=":$1"
    sleep 2
    restart_windows # it asks for a screen's size when it starts
}

# Waits until a command succeeds: wait_until SECONDS COMMAND...
wait_until() {
    for _ in $(seq "$1"); do
        (shift && "$@") >/dev/null 2>&1 && return
        sleep 1
    done
    return 1
}

locks() { find "$WINEPREFIX/drive_c/users" -path '*Local*decoderscope*' -name 'autosave-*.lock'; }
autosaves() { find "$WINEPREFIX/drive_c/users" -path '*Local*decoderscope*' -name 'autosave-*.dscope'; }
has_autosaves() { [ "$(autosaves | wc -l)" -eq "$1" ]; }
has_locks() { [ "$(locks | wc -l)" -eq "$1" ]; }

check_statically() {
    step "What can be checked without running it"
    x86_64-w64-mingw32-gcc-posix tests/windows/planted.s -lws2_32 -o "$work/planted.exe"
    if packaging/windows/check_program.sh "$work/planted.exe" >"$work/said" 2>&1; then
        fail "an aligned move on the stack, and a foreign library, were not found"
    fi
    for text in "the stack is not aligned in <main>" "needs WS2_32.dll"; do
        grep -qF "$text" "$work/said" || fail "the check did not say: $text"
    done
    packaging/windows/check_program.sh "$built/build/decoderscope.exe" "$built/build/decoderscope.com" ||
        fail "the program"
}

# [posix] tests need what Windows hasn't: pipes among files, open files that can be cut or removed, its own words for an error.
# They run from where the program lies, with its fonts.
try_tests() {
    for tests in engine app_core threads app_views; do
        step "Catch2's tests: $tests"
        cp "$built/build/tests/test_$tests.exe" "$place/"
        (cd "$work" && wine "$place/test_$tests.exe" --filenames-as-tags "~[.]~[posix]" >"$built/test_$tests.log" 2>&1) ||
            fail "a test: $(tail -c 20000 "$built/test_$tests.log")"
        tail -n 3 "$built/test_$tests.log"
        rm "$place/test_$tests.exe"
    done
}

# As on CPUs that have less: oneDNN's kernels for them, and where it has none for a weight, its inner products.
try_older_cpus() {
    grep -q DECODERSCOPE_ONEDNN:BOOL=ON "$built/build/CMakeCache.txt" || return 0
    for isa in AVX2 AVX SSE41; do
        step "Products and PyTorch's numbers on a CPU that has $isa"
        (cd "$work" && ONEDNN_MAX_CPU_ISA=$isa wine "$built/build/tests/test_engine.exe" --filenames-as-tags \
            "[#test_products]~[.]~[posix],[#test_parity]~[.]~[posix]" >"$work/said" 2>&1) ||
            fail "a test: $(tail -c 20000 "$work/said")"
        tail -n 3 "$work/said"
    done
}

try_readers() {
    step "The fuzzers' seeds"
    for seeds in tests/fuzz/corpus/*; do
        reader=$(basename "$seeds")
        wine "$built/build/tests/fuzz/fuzz_$reader.exe" "$root/$seeds" >"$work/said" 2>&1 || fail "$reader: $(cat "$work/said")"
        echo "  $reader: $(cat "$work/said")"
    done
}

try_commands() {
    step "The command line"
    says "--version" 0 "$version" --version
    says "models" 0 reverse models
    says "a cell" 0 "project to heads: y[b, h, p, d] = Σ_i x[b, p, i]" explain reverse --cell "blocks.0.attn.q[0,0,0,0]"
    bugs=tests/reference/bugs/traces/gpt
    says "a recording with a mistake" 1 '"blocks.0.attn.attn_scores"' bisect "$bugs/model.safetensors" \
        --against "$bugs/no-scale.safetensors" --json \
        --set nhead=2 --set norm_first=true --set activation=gelu_tanh
    says "an unknown model" 1 "decoderscope: " trace nothing --out "$work/x.safetensors"
    says "a wrong option" 2 "see decoderscope --help" trace --wrong
    says "a report" 0 "" report reverse --out "$work/report.html"
    grep -q "</html>" "$work/report.html" || fail "the report is not whole"
}

try_numbers() {
    step "Every reference configuration against PyTorch"
    python3 tests/windows/compare_fixtures.py tests/reference/fixtures "$work" wine "$place/decoderscope.com" ||
        fail "a tensor differs"
}

# The same figures as on Linux, where the fonts are the same files.
try_exports() {
    step "Exports"
    for ending in svg csv npy npz json png pdf; do
        says "export to $ending" 0 "" export reverse --text abc --tensor blocks.0.attn.pattern --out "$work/there.$ending"
        [ -x "$desktop" ] || continue
        "$desktop" export reverse --text abc --tensor blocks.0.attn.pattern --out "$work/here.$ending"
        cmp -s "$work/here.$ending" "$work/there.$ending" && echo "  $ending: the same bytes" && continue
        echo "  $ending: other bytes"
    done
    # What a browser prints.
    says "a lesson as a page" 0 "" lessons export heads --out "$work/there.html"
    [ -x "$desktop" ] || return 0
    "$desktop" lessons export heads --out "$work/here.html"
    # One line holds the answers' numbers, whose last digits differ.
    [ "$(diff -a "$work/here.html" "$work/there.html" | grep -ac '^<')" -le 1 ] ||
        fail "a lesson's page is another one than on Linux"
}

try_paths() {
    step "Paths"
    named="$work/мой 模型 (é)"
    cp -r assets/models/reverse "$named"
    says "a path in Chinese" 0 "" trace "$named" --text abc --out "$named/ausgeführt 图.safetensors"
    [ -s "$named/ausgeführt 图.safetensors" ] || fail "nothing was written under a Chinese name"
    says "a name that isn't there" 1 "模型" trace "$named/不" --out "$work/x.safetensors"
    # 320 characters.
    long=$work
    for part in 1 2 3 4 5; do long="$long/$part-a-folder-with-a-name-of-some-sixty-characters-in-all-of-it"; done
    mkdir -p "$long"
    cp assets/models/reverse/* "$long/"
    says "a path of more than 260 characters" 0 "" trace "$long" --text abc --out "$long/trace.safetensors"
    [ -s "$long/trace.safetensors" ] || fail "nothing was written at the end of a long path"
}

# A folder's model is whole: nothing of it is missing or cut short.
is_whole() {
    python3 - "$1" <<'END'
import json, os, struct, sys
folder = sys.argv[1]
json.load(open(os.path.join(folder, "config.json")))
file = open(os.path.join(folder, "model.safetensors"), "rb").read()
length = struct.unpack("<Q", file[:8])[0]
tensors = json.loads(file[8 : 8 + length])
ends = [tensor["data_offsets"][1] for name, tensor in tensors.items() if name != "__metadata__"]
sys.exit(len(file) != 8 + length + max(ends))
END
}

# The file is mapped while it is written.
try_saving() {
    step "Saving over an open model"
    before=$(cksum <"$model/model.safetensors")
    says "training in place" 0 "" train "$model" --task reverse --steps 1 --lr 0.01 --out "$model"
    [ "$(cksum <"$model/model.safetensors")" != "$before" ] || fail "the model was not replaced"
    says "what was saved" 0 "" trace "$model" --text abc --out "$work/x.safetensors"
    left=$(find "$model" "$work" -maxdepth 1 \( -name '*.part-*' -o -name '*.before*' \))
    [ -z "$left" ] || fail "left behind: $left"
}

# A process that is killed has no moment to put anything right.
try_kills() {
    step "Killed a hundred times while it saves"
    kept=0 new=0 aside=0
    for _ in 1 2; do # the first one waits until Windows has started
        began=$(date +%s%N)
        says "a save that nothing kills" 0 "" train "$model" --task reverse --steps 1 --lr 0.01 --out "$model"
        took=$(($(date +%s%N) - began))
    done
    before=$(cksum <"$model/model.safetensors")
    for kill in $(seq 100); do
        # The program itself, not a function: its shell would be killed in its place.
        wine "$place/decoderscope.com" train "$model" --task reverse --steps 1 --lr 0.01 --out "$model" >/dev/null 2>&1 &
        saving=$!
        sleep "$(awk -v n="$kill" -v took="$took" 'BEGIN { print took * 1e-9 * (0.4 + 0.012 * n) }')"
        kill -9 $saving 2>/dev/null || true
        wait $saving 2>/dev/null || true
        whole=$model
        if [ ! -e "$model/config.json" ]; then # between its two names
            whole=$(find "$work" -maxdepth 1 -name 'saved.before*' | head -n 1)
            aside=$((aside + 1))
        fi
        is_whole "$whole" || fail "kill $kill left no whole model"
        [ "$whole" = "$model" ] || mv "$whole" "$model"
        now=$(cksum <"$model/model.safetensors")
        if [ "$now" = "$before" ]; then kept=$((kept + 1)); else new=$((new + 1)); fi
        before=$now
    done
    echo "  $kept times the old model, $new times the new one, of them $aside times under its other name"
    [ $new -gt 0 ] && [ $kept -gt 0 ] || fail "the kills were all before the save, or all after it"
    says "what is left" 0 "" trace "$model" --text abc --out "$work/x.safetensors"
}

try_window() {
    step "The window"
    wine start /unix "$place/decoderscope.exe" no-such-model  # as a double click starts it: without a console
    wait_for_window Decoderscope
    shot error 2
    xdotool key Return
    sleep 2
    wine "$place/decoderscope.exe" "$model" &
    window=$!
    wait_for_window saved
    sleep 8
    shot window 400
    kill -0 $window 2>/dev/null || fail "the window did not stay open"
    # Windows lets nothing truncate a file that is mapped.
    size=$(stat -c %s "$model/model.safetensors")
    wine cmd /c "type nul > \"$(winepath -w "$model/model.safetensors")\"" >"$work/said" 2>&1 || true
    [ "$(stat -c %s "$model/model.safetensors")" -eq "$size" ] || fail "an open model's file was truncated"
}

# Of two programs of one user, each has its own autosave; what one leaves behind is offered to the next.
try_two_windows() {
    step "Two windows of one user"
    xdotool search --onlyvisible --name saved windowfocus --sync
    xdotool key shift+n  # an edit: Pre-Norm becomes Post-Norm
    wait_until 20 has_autosaves 1 || fail "an edit was not kept: $(autosaves)"
    first=$(autosaves | cksum)
    wine "$place/decoderscope.exe" --model reverse &
    second=$!
    wait_for_window reverse
    wait_until 20 has_locks 2 || fail "the second program has no lock of its own: $(locks)"
    sleep 4
    shot second 400
    [ "$(autosaves | cksum)" = "$first" ] || fail "the second program took the first one's autosave"
    kill -9 $window $second 2>/dev/null || true
    wait $window $second 2>/dev/null || true
    wine "$place/decoderscope.exe" --model reverse &
    window=$!
    wait_for_window reverse
    sleep 6
    shot recovered 400
    wineserver -k
}

# Sessions with an edit, each whole: what the program writes by itself while a person works.
are_whole_sessions() {
    python3 - "$@" <<'END'
import json, sys
for path in sys.argv[1:]:
    session = json.load(open(path, encoding="utf-8"))
    assert session["format"] == "decoderscope-session" and session["model"], path
END
}

halves() { find "$WINEPREFIX/drive_c/users" -path '*Local*decoderscope*' -name '*.part-*'; }

# The window of a program that starts on a model, once it answers: start_window ARGUMENT... sets $window, its process.
start_window() {
    wine "$place/decoderscope.exe" "$@" >/dev/null 2>&1 &
    window=$!
    for name in "$@"; do :; done # the last one
    wait_for_window "$(basename "$name")"
    xdotool search --onlyvisible --name "$(basename "$name")" windowfocus --sync
}

end_window() {
    kill -9 $window 2>/dev/null || true
    wait $window 2>/dev/null || true
}

# From a tenth of a second to two after the first of several edits, of which the first is written after 0.4 seconds.
try_edits() {
    step "Killed a hundred times while a person edits"
    [ -n "$screens" ] || start_screen 47
    rm -rf "$WINEPREFIX"/drive_c/users/*/AppData/Local/decoderscope
    kept=0 nothing=0
    for kill in $(seq 100); do
        start_window --model reverse
        left=$(autosaves)
        [ -z "$(halves)" ] || fail "start $kill left something half-written: $(halves)"
        # What the last kill left is offered, and is not needed any more.
        # shellcheck disable=SC2086 # names of files, without spaces
        [ -z "$left" ] || rm $left
        # An odd number of times: twice is no edit.
        xdotool key --repeat $((1 + 2 * (kill % 4))) --repeat-delay 60 shift+n
        sleep "$(awk -v n="$kill" 'BEGIN { print 0.1 + 0.015 * n }')"
        end_window
        left=$(autosaves)
        if [ -n "$left" ]; then
            kept=$((kept + 1))
            # shellcheck disable=SC2086
            are_whole_sessions $left >"$work/said" 2>&1 || fail "kill $kill left half of a session: $(cat "$work/said")"
        else
            nothing=$((nothing + 1))
            [ "$kill" -lt 80 ] || fail "kill $kill: nothing was kept of an edit 1.3 seconds before"
        fi
    done
    echo "  $kept times the work was kept, $nothing times it was not yet written"
    # The last one, as the program itself reads it.
    # shellcheck disable=SC2086
    [ -z "$left" ] || says "what was kept" 0 "" trace $left --out "$work/x.safetensors"
    rm -rf "$WINEPREFIX"/drive_c/users/*/AppData/Local/decoderscope # and the locks of those that were killed
}

# The picture of this screen once nothing changes any more, without the black around the window: picture FILE
picture() {
    import -window root "$1"
    for _ in $(seq 60); do
        sleep 1
        mv "$1" "$work/before.png"
        import -window root "$1"
        [ "$(identify -format '%#' "$1")" != "$(identify -format '%#' "$work/before.png")" ] || break
    done
    convert "$1" -bordercolor black -border 1 -trim +repage "$1"
}

# Both programs on their first start, one after the other, tab by tab. The pointer is outside the window.
try_pictures() {
    [ -x "$desktop" ] || { echo "  $desktop is not there: pictures are not compared" && return; }
    step "Pictures of every tab beside those on Linux"
    start_screen 50 # of a known size, and with OpenGL
    rm -rf "$WINEPREFIX"/drive_c/users/*/AppData/*/decoderscope
    mkdir -p "$work/home"
    for system in windows linux; do
        xdotool mousemove 1430 950
        if [ $system = windows ]; then
            wine "$place/decoderscope.exe" --model reverse >/dev/null 2>&1 &
        else
            env -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_DATA_HOME HOME="$work/home" LIBGL_ALWAYS_SOFTWARE=1 \
                "$desktop" --model reverse >/dev/null 2>&1 &
        fi
        shown=$!
        wait_for_window reverse
        id=$(xdotool search --onlyvisible --name reverse | tail -n 1)
        # A window on Windows has its border around this.
        # shellcheck disable=SC2086 # width and height
        [ $system = windows ] || xdotool windowsize "$id" $size
        xdotool windowmove "$id" 0 0 windowfocus "$id"
        xdotool mousemove 1430 950
        for tab in Home:start h:heads m:masks n:norms g:generate c:diff k:causes f:train s:step t:light; do
            xdotool key "${tab%%:*}"
            picture "$pictures/${tab#*:}-$system.png"
        done
        size=$(identify -format '%w %h' "$pictures/start-windows.png")
        kill $shown
        wait $shown 2>/dev/null || true
    done
    python3 tests/windows/compare_pictures.py "$pictures" start heads masks norms generate diff causes train step light ||
        fail "a tab looks other than on Linux"
}

personalize='HKCU\Software\Microsoft\Windows\CurrentVersion\Themes\Personalize'

# How bright the window is, of 100.
brightness() {
    picture "$pictures/$1.png"
    convert "$pictures/$1.png" -colorspace Gray -format '%[fx:int(100 * mean)]' info:
}

# How far down the bar beside the model's description begins, in pixels: all above it is as large as the scaling.
height_of_bars() {
    convert "$1" -crop 2x1200+1+0 +repage -fuzz 8% -fill white -opaque '#4EA1F3' -fuzz 0 -fill black +opaque white \
        -trim -format '%O' info: | sed 's/.*+//'
}

# Dark and light, and the scaling of the screen, as Windows is set.
try_settings() {
    step "Windows' settings"
    start_screen 48 2880x1800x24
    for light in 1 0; do
        wine reg add "$personalize" /v AppsUseLightTheme /t REG_DWORD /d $light /f >"$work/said" 2>&1
        start_window --model reverse
        bright=$(brightness "theme-$light")
        if [ $light = 1 ]; then [ "$bright" -gt 60 ]; else [ "$bright" -lt 40 ]; fi ||
            fail "with AppsUseLightTheme $light the window's brightness is $bright %"
        end_window
    done
    for percent in 100 125 150 200; do
        wine reg add 'HKCU\Control Panel\Desktop' /v LogPixels /t REG_DWORD /d $((96 * percent / 100)) /f >"$work/said" 2>&1
        restart_windows # it is read then
        start_window --model reverse
        picture "$pictures/scaling-$percent.png"
        height=$(height_of_bars "$pictures/scaling-$percent.png")
        [ $percent != 100 ] || whole=$height
        echo "  at $percent % the bars at the top are $height pixels high"
        off=$((height - whole * percent / 100))
        [ ${off#-} -le 3 ] || fail "at $percent % the bars at the top are $height pixels high, at 100 % $whole"
        end_window
    done
    wine reg add 'HKCU\Control Panel\Desktop' /v LogPixels /t REG_DWORD /d 96 /f >"$work/said" 2>&1
    restart_windows
}

# Characters that no key has, the clipboard's picture, dropped files, links.
try_hands() {
    step "What a person does with keyboard and mouse"
    [ -n "$screens" ] || start_screen 47
    x86_64-w64-mingw32-g++-posix -std=c++20 -O1 -static -DUNICODE -D_UNICODE tests/windows/hands.cpp -o "$work/hands.exe"
    for folder in "é 图" dropped; do cp -r "$model" "$work/$folder"; done
    start_window --model reverse
    xdotool key ctrl+shift+c
    sleep 3
    wine "$work/hands.exe" paste "$(winepath -w "$work")\\pasted" || fail "no picture was copied"
    convert "$work/pasted.png" -background white -flatten "$work/flat.png"
    differ=$(compare -metric AE "$work/pasted.bmp" "$work/flat.png" null: 2>&1) || true
    [ "$differ" = 0 ] || fail "the bitmap on the clipboard is another picture than the PNG: $differ pixels"
    echo "  copied a picture of $(identify -format '%w x %h pixels, %k colours' "$work/pasted.bmp")"
    xdotool key ctrl+o
    sleep 2
    wine "$work/hands.exe" type "$work/é 图"
    sleep 12  # a character a frame
    shot typed 100
    xdotool key Return
    wait_for_window "é 图"
    /usr/bin/python3 tests/windows/drop.py "$(xdotool search --onlyvisible --name "é 图" | tail -n 1)" "$work/dropped" ||
        fail "the window takes no dropped folder"
    wait_for_window dropped
    end_window
    wine "$place/decoderscope.exe" "$(cat tests/fuzz/corpus/link/lesson)" >/dev/null 2>&1 &
    window=$!
    wait_for_window causal-lm
    end_window
}

# The system's own dialog for files, by the button of ours, which lies there in a window of this size.
try_dialog() {
    step "The system's dialog for files"
    start_screen 51
    cp -r "$model" "$work/chosen"
    start_window --model reverse
    xdotool search --onlyvisible --name reverse windowmove 0 0
    xdotool key ctrl+o
    sleep 3
    xdotool mousemove 379 439
    sleep 1
    xdotool click 1
    wait_for_window '^Open$'
    sleep 2
    xdotool search --onlyvisible --name '^Open$' windowfocus --sync
    xdotool type --delay 60 "$(winepath -w "$work/chosen/model.safetensors")"
    shot dialog 400
    xdotool key Return
    wait_for_window chosen
    end_window
}

# A screen without OpenGL, as in some virtual machines.
try_no_opengl() {
    step "No OpenGL"
    start_screen 49 1440x960x24 "-extension GLX"
    says "a screen without OpenGL" 1 "this display offers no OpenGL 3.3" --model reverse
    says "the command line there" 0 "$version" --version
    wine start /unix "$place/decoderscope.exe"
    wait_for_window Decoderscope
    shot no-opengl 2
    xdotool key Return
}

try_installer() {
    step "The installer"
    setup="$built/decoderscope-$version-windows.exe"
    wine "$setup" /S || fail "the installer ended with $?"
    installed=$(find "$WINEPREFIX/drive_c" -name decoderscope.com | head -n 1)
    [ -n "$installed" ] || fail "nothing was installed"
    wine "$installed" trace reverse --text abc --out "$work/installed.safetensors" || fail "what was installed does not run"
    wine reg query 'HKCU\Software\Classes\Decoderscope.Session\shell\open\command' | grep -q 'decoderscope.exe' ||
        fail "sessions are not opened by it"
    # Wine 8 looks for what opens a file among the machine's classes alone, Windows also among the person's.
    for class in .dscope Decoderscope.Session; do
        wine reg copy "HKCU\\Software\\Classes\\$class" "HKLM\\Software\\Classes\\$class" /s /f >"$work/said" 2>&1
    done
    cp tests/fuzz/corpus/session/small "$work/é session.dscope"
    wine start /unix "$work/é session.dscope" # as a double click
    wait_for_window "é session.dscope"
    shot session 400
    wineserver -k -w
    wineserver -p
    folder=$(dirname "$installed")
    wine "$folder/uninstall.exe" /S || fail "the uninstaller ended with $?"
    for _ in $(seq 20); do
        [ -e "$installed" ] || break
        sleep 1
    done
    [ ! -e "$installed" ] || fail "it was not uninstalled"
}

[ $# -gt 0 ] || set -- static tests older_cpus readers commands numbers exports paths saving kills edits window settings hands \
    dialog no_opengl pictures installer
place_it
for part in "$@"; do
    case $part in
    static) check_statically ;;
    window)
        start_screen 47
        try_window
        try_two_windows
        ;;
    installer)
        [ -n "$screens" ] || start_screen 47
        try_installer
        ;;
    *) "try_$part" ;;
    esac
done
[ $failed -eq 0 ] || exit 1
step "$*: all of it passed under Wine, which is not Windows."
