# Shared by run.sh and test.sh: what is being done, and how far it is, shown in the terminal.
# shellcheck shell=sh
begun=$(date +%s)

# Says what begins now, and how long it has been so far: step TEXT
step() {
    seconds=$(($(date +%s) - begun))
    printf '== %d:%02d  %s\n' $((seconds / 60)) $((seconds % 60)) "$1" >&2
}

# Runs a command. Shows its output only if it fails.
quietly() {
    if ! said=$("$@" 2>&1); then
        printf '%s\n' "$said" >&2
        return 1
    fi
}

# Builds a preset, or some of its targets, and says how far it is: build PRESET [--target TARGET ...]
# The caller may set $configure to more arguments of cmake. A new folder is compiled by clang where it is there and $CXX names no
# other: of GCC's time it takes two thirds, and the program is as fast. What the compiler says is in build/PRESET/build.log, and is shown
# if it fails.
build() {
    preset=$1
    shift
    compiler=${CXX:-$(command -v clang++ || true)}
    # shellcheck disable=SC2086 # words
    quietly env ${compiler:+CXX="$compiler"} cmake --preset "$preset" ${configure:-} || {
        echo "Configuring failed: CMake's words are above." >&2
        return 1
    }
    log=build/$preset/build.log
    compiling=$(date +%s)
    NINJA_STATUS='[%f/%t] ' cmake --build --preset "$preset" "$@" >"$log" 2>&1 &
    building=$!
    trap 'stop $building; exit 130' INT TERM
    said_tenth=0
    while kill -0 $building 2>/dev/null; do
        sleep 1
        say_progress
    done
    trap - INT TERM
    [ ! -t 2 ] || printf '\r\033[K' >&2
    wait $building || {
        cat "$log" >&2
        echo "Compiling failed: the compiler's words are above, and in $log." >&2
        return 1
    }
}

# Ends a process and what it started, and waits for it: CMake alone would leave ninja running.
stop() {
    started=$(grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | tr -dc '0-9\n')
    # shellcheck disable=SC2086 # words
    kill $started "$1" 2>/dev/null
    wait "$1" 2>/dev/null
    for process in $started; do
        while kill -0 "$process" 2>/dev/null; do sleep 0.1; done
    done
}

# On a terminal one line that stays up to date, elsewhere a line for each tenth.
say_progress() {
    counts=$(tail -n 40 "$log" | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 \2/p' | tail -n 1)
    done=${counts% *} all=${counts#* }
    [ -n "$counts" ] && [ "$done" -gt 0 ] || return 0
    left=$((($(date +%s) - compiling) * (all - done) / done))
    progress="   $done of $all steps, about $((left / 60)):$(printf %02d $((left % 60))) left"
    if [ -t 2 ]; then
        printf '\r\033[K%s' "$progress" >&2
    elif [ $((done * 10 / all)) -gt "$said_tenth" ]; then
        said_tenth=$((done * 10 / all))
        echo "$progress" >&2
    fi
}
