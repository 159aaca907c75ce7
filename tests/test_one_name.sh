#!/bin/sh
# Fails if two files of the program define types, aliases or inline functions of one qualified name: test_one_name.sh ROOT
# The linker keeps one of two such definitions without a word, and calls it for both. Unnamed namespaces count as their
# surroundings: a name in one of them would hide, or clash with, the other's wherever files are compiled together. So would two
# constants or functions of a folder's unnamed namespaces: a page compiles more of a folder together than the desktop does.
# Relies on the sources' layout (the test `format`): what a namespace holds begins in the first column.
cd "$1" || exit 1
find engine app -name '*.h' -o -name '*.cpp' | LC_ALL=C sort | xargs awk '
    function scope(    i, text) {
        for (i = 1; i <= depth; i++) if (space[i] != "") text = text (text == "" ? "" : "::") space[i]
        return text
    }
    function define(name) {
        name = scope() "::" name
        if (!(name in where)) { where[name] = FILENAME; return }
        if (where[name] == FILENAME || (name SUBSEP FILENAME) in said) return
        said[name, FILENAME] = 1
        printf "%s: defined in %s and in %s\n", name, where[name], FILENAME
        broken = 1
    }
    # What only files of the same folder may not have twice.
    function define_in_folder(name,    folder) {
        if (depth == 0 || space[depth] != "" || FILENAME ~ /_windows\.cpp$/) return
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
        define(name " of " folder)
    }
    FNR == 1 { depth = 0 }
    /^namespace [a-zA-Z_:]+ = / { next }
    /^(inline )?namespace ([a-zA-Z_:]+ )?\{/ {
        line = $0
        sub(/^(inline )?namespace */, "", line); sub(/ *\{.*/, "", line)
        space[++depth] = line
        next
    }
    /^}  \/\/ namespace/ { depth--; next }
    /^(struct|class|union|enum class|enum) (\[\[[a-z_]+\]\] )?[A-Za-z_0-9]+( final)?( :[^:].*)? *(\{|$)/ && !/;$/ {
        line = $0
        sub(/^(struct|class|union|enum class|enum) (\[\[[a-z_]+\]\] )?/, "", line); sub(/[^A-Za-z_0-9].*/, "", line)
        define(line)
    }
    /^using [A-Za-z_0-9]+ = / { line = $2; define(line) }
    /^inline [^=;]*\(/ {
        line = $0
        sub(/^inline (constexpr )?/, "", line); sub(/ *\{.*/, "", line)
        sub(/^[^(]* [*&]*/, "", line)
        define(line)
    }
    /^constexpr [^({]* [A-Za-z_0-9]+(\[\])? *(=|\{)/ {
        line = $0
        sub(/(\[\])? *(=|\{).*/, "", line); sub(/.* /, "", line)
        define_in_folder(line)
    }
    /^[A-Za-z_].*[a-z_0-9]\(.*\) (const )?\{/ && !/^(inline|template|namespace|constexpr) / {
        line = $0
        sub(/ \{.*/, "", line)
        define_in_folder(line)
    }
    END { exit broken }
'
