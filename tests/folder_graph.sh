#!/bin/sh
# Draws the folders of engine/ and app/ as a graph, from the includes of their files: folder_graph.sh ROOT
# Rooms come in the order in which they are linked. A folder reads what stands beside it, and what these read; all of it
# stands higher up in the list. Fails where folders, or rooms, read each other in a circle, and names the includes that make it.
cd "$1" || exit 1
find engine app \( -name '*.h' -o -name '*.cpp' \) | LC_ALL=C sort |
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(engine|app)/' /dev/null |
    awk '
function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}

# engine, app/core, app/views, app/window, and app for the rest: the program that is made from them.
function room_of(folder, part) {
    split(folder, part, "/")
    if (part[1] == "engine") return "engine"
    return part[2] ~ /^(core|views|window)$/ ? "app/" part[2] : "app"
}

function add_node(node) {
    if (node in known) return
    known[node] = 1
    nodes[++count] = node
}

# `from` reads `to`, as this line shows.
function add_edge(from, to, line) {
    add_node(from)
    add_node(to)
    if (from == to) return
    reads[from, to] = reads[from, to] line "\n"
}

# What a node reads, directly or through others: reaches. `left_out` and `of` are two nodes of which the one is taken not to
# read the other.
function close_over(left_out, of, i, j, k) {
    split("", reaches)
    for (i = 1; i <= count; i++)
        for (j = 1; j <= count; j++)
            if ((nodes[i], nodes[j]) in reads && !(nodes[i] == left_out && nodes[j] == of)) reaches[nodes[i], nodes[j]] = 1
    for (k = 1; k <= count; k++)
        for (i = 1; i <= count; i++)
            if ((nodes[i], nodes[k]) in reaches)
                for (j = 1; j <= count; j++)
                    if ((nodes[k], nodes[j]) in reaches) reaches[nodes[i], nodes[j]] = 1
}

function goes_round(i) {
    for (i = 1; i <= count; i++)
        if ((nodes[i], nodes[i]) in reaches) return 1
    return 0
}

# Names the includes that make a circle: the fewest between two nodes that break it when they alone are taken away; all that
# lie on circles where no two do.
function print_circles(what, i, j, n, circle, ends, includes, fewest) {
    if (!goes_round()) return
    broken = 1
    for (i = 1; i <= count; i++)
        for (j = 1; j <= count; j++)
            if ((nodes[i], nodes[j]) in reads && (nodes[j], nodes[i]) in reaches) circle[++n] = nodes[i] SUBSEP nodes[j]
    for (i = 1; i <= n; i++) {
        split(circle[i], ends, SUBSEP)
        close_over(ends[1], ends[2])
        if (goes_round()) continue
        includes[i] = gsub(/\n/, "\n", reads[circle[i]])
        if (!fewest || includes[i] < fewest) fewest = includes[i]
    }
    print what " read each other in a circle, which these includes " (fewest ? "close:" : "make:")
    for (i = 1; i <= n; i++) {
        if (fewest && includes[i] != fewest) continue
        split(circle[i], ends, SUBSEP)
        printf "%s", "  " ends[1] " reads " ends[2] "\n" reads[circle[i]]
    }
}

# 1 for a node that reads none of its own room, otherwise one more than the highest that it reads there.
function layer_of(node, j, below) {
    if (node in layer) return layer[node]
    layer[node] = 1
    for (j = 1; j <= count; j++)
        if ((node, nodes[j]) in reads && room_of(nodes[j]) == room_of(node)) {
            below = layer_of(nodes[j])
            if (below >= layer[node]) layer[node] = below + 1
        }
    return layer[node]
}

# What a folder reads of its own room; what another of these reads already is left out.
function read_by(node, i, j, list, through) {
    for (i = 1; i <= count; i++) {
        if (!((node, nodes[i]) in reads) || room_of(nodes[i]) != room_of(node)) continue
        through = 0
        for (j = 1; j <= count; j++)
            if ((node, nodes[j]) in reads && (nodes[j], nodes[i]) in reaches && room_of(nodes[j]) == room_of(node)) through = 1
        if (!through) list = list " " substr(nodes[i], length(room_of(node)) + 2)
    }
    return list
}

function print_room(room, l, i, name, met, most) {
    print room
    for (i = 1; i <= count; i++)
        if (room_of(nodes[i]) == room && layer_of(nodes[i]) > most) most = layer_of(nodes[i])
    for (l = 1; l <= most; l++)
        for (i = 1; i <= count; i++) {
            if (room_of(nodes[i]) != room || layer_of(nodes[i]) != l) continue
            name = nodes[i] == room ? "." : substr(nodes[i], length(room) + 2)
            printf "  %2s  %-16s%s\n", met == l ? "" : l, name, read_by(nodes[i])
            met = l
        }
}

function forget() {
    split("", known)
    split("", nodes)
    split("", reads)
    split("", reaches)
    count = 0
}

{
    split($0, at, ":")
    split($0, quoted, "\"")
    lines[NR] = "    " at[1] ":" at[2] ": " quoted[2]
    from_folder[NR] = folder_of(at[1])
    to_folder[NR] = folder_of(quoted[2])
}

END {
    for (n = 1; n <= NR; n++) add_edge(room_of(from_folder[n]), room_of(to_folder[n]), lines[n])
    close_over()
    print_circles("rooms")
    forget()
    for (n = 1; n <= NR; n++) add_node(from_folder[n])
    for (n = 1; n <= NR; n++) add_edge(from_folder[n], to_folder[n], lines[n])
    close_over()
    if (!broken) print_circles("folders")
    if (broken) exit 1
    split("engine app/core app/views app/window app", rooms, " ")
    for (n = 1; n <= 5; n++) print_room(rooms[n])
}'
