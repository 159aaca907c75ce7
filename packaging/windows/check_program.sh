#!/bin/sh
# Checks a program for Windows, without running it: check_program.sh PROGRAM...
#   - It needs no library but those that every Windows has.
#   - No aligned move of 32 or 64 bytes on a stack that isn't aligned: Windows aligns a stack to 16 bytes, and some of GCC's
#     versions forget it (its bug 54412). A function that has one must first align its own stack (and $-32,%rsp or $-64).
set -eu
failed=0
system='ADVAPI32 COMDLG32 GDI32 IMM32 KERNEL32 msvcrt OLE32 OPENGL32 SHELL32 USER32 bcrypt'
for program in "$@"; do
    x86_64-w64-mingw32-objdump -p "$program" | sed -n 's/.*DLL Name: \(.*\)\.[dD][lL][lL]$/\1/p' | sort -u >"$program.imports"
    while read -r library; do
        echo "$system" | tr ' ' '\n' | grep -qixF "$library" && continue
        echo "$program needs $library.dll, which not every Windows has"
        failed=1
    done <"$program.imports"
    rm "$program.imports"
    x86_64-w64-mingw32-objdump -d --no-show-raw-insn "$program" | awk -v program="$program" '
        /^[0-9a-f]+ <.*>:$/ { name = $2; aligned = 0 }
        /and +\$0xffffffffffffff(e0|c0|80|00),%rsp/ { aligned = 1 }
        /%[yz]mm/ { vectors++ }
        /vmov(aps|apd|dqa|dqa32|dqa64|ntps|ntdq|ntpd) .*%[yz]mm/ && /\(%r[sb]p/ {
            on_stack++
            if (!aligned) { bad++; print program ": the stack is not aligned in " name " " $0 }
        }
        END {
            printf "%s: %d instructions with vectors of 32 bytes or more, %d aligned moves on the stack, %d without aligning it\n",
                program, vectors, on_stack, bad
            exit bad > 0
        }' || failed=1
done
exit $failed
