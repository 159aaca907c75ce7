#!/bin/sh
# Draws the rooms, their folders and what reads what: docs/pictures/architecture.svg, from the includes of the sources.
#   scripts/architecture.sh            writes the picture
#   scripts/architecture.sh --check    fails if the picture is not that of the sources
set -eu
cd "$(dirname "$0")/.."
picture=docs/pictures/architecture.svg

# tests/folder_graph.sh prints a room in a line of its own, then its folders: [LAYER] FOLDER [FOLDER THAT IT READS ...].
draw() {
    sh tests/folder_graph.sh . | awk '
/^[^ ]/ { room[++rooms] = $1; next }
{
    first = 1
    if ($1 ~ /^[0-9]+$/) { layer = $1; first = 2 }
    f = ++folders[rooms]
    name[rooms, f] = $first
    row[rooms, f] = layer
    if (layer > layers[rooms]) layers[rooms] = layer
    for (i = first + 1; i <= NF; i++) reads[rooms, f] = reads[rooms, f] " " $i
}

function out(text) { svg = svg text "\n" }

function label(x, y, size, weight, colour, text) {
    out("<text x=\"" x "\" y=\"" y "\" font-size=\"" size "\" font-weight=\"" weight "\" fill=\"" colour "\" text-anchor=\"middle\">" text "</text>")
}

# A room as a box of this width at x: its layers from the bottom up, at most `across` folders side by side.
function draw_room(r, x, width, across, l, f, n, k, line, lines, in_line, wide, y) {
    y = bottom - 14
    wide = (width - 16 - gap * (across - 1)) / across
    for (l = 1; l <= layers[r]; l++) {
        n = 0
        for (f = 1; f <= folders[r]; f++) if (row[r, f] == l) at_layer[++n] = f
        lines = int((n + across - 1) / across)
        for (k = 1; k <= n; k++) {
            line = int((k - 1) / across)
            in_line = line < lines - 1 ? across : n - line * across
            left[r, name[r, at_layer[k]]] = x + width / 2 + (((k - 1) % across) - in_line / 2) * (wide + gap) + gap / 2
            top[r, name[r, at_layer[k]]] = y - high - line * (high + 5)
        }
        y -= lines * (high + 5) + 17
    }
    size[r] = wide
    out("<rect x=\"" x "\" y=\"" y - 16 "\" width=\"" width "\" height=\"" bottom - y + 16 "\" rx=\"8\" fill=\"" paper[r] "\" stroke=\"" ink[r] "\"/>")
    label(x + width / 2, y + 4, 14, "bold", ink[r], room[r])
    for (f = 1; f <= folders[r]; f++) {
        n = split(reads[r, f], read, " ")
        for (k = 1; k <= n; k++)
            if ((r, read[k]) in top)
                out("<path d=\"M" left[r, name[r, f]] + wide / 2 " " top[r, name[r, f]] + high "L" left[r, read[k]] + wide / 2 " " top[r, read[k]] "\" stroke=\"" ink[r] "\" stroke-opacity=\"0.45\"/>")
    }
    for (f = 1; f <= folders[r]; f++) {
        out("<rect x=\"" left[r, name[r, f]] "\" y=\"" top[r, name[r, f]] "\" width=\"" wide "\" height=\"" high "\" rx=\"4\" fill=\"white\" stroke=\"" ink[r] "\"/>")
        label(left[r, name[r, f]] + wide / 2, top[r, name[r, f]] + 14, 10.5, "normal", "#20242b", name[r, f] == "." ? room[r] : name[r, f])
    }
    if (y < highest) highest = y
}

END {
    split("#0072b2 #007a5a #a65e00 #7a4b8f #5c6370", ink, " ")
    split("#eef5fa #edf6f2 #fbf4ea #f5eff8 #f2f3f5", paper, " ")
    split("310 352 352 96 96", widths, " ")
    split("3 4 4 1 1", across, " ")
    high = 20
    gap = 8
    bottom = 1000
    highest = bottom
    x = 8
    for (r = 1; r <= rooms; r++) {
        draw_room(r, x, widths[r], across[r])
        if (r > 1) out("<path d=\"M" x - 2 " " bottom - 40 "h-20m7 -5l-7 5l7 5\" stroke=\"#20242b\" fill=\"none\" stroke-width=\"1.6\"/>")
        x += widths[r] + 24
    }
    height = bottom - highest + 46
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 %d %d %d\" font-family=\"Inter, DejaVu Sans, sans-serif\">\n", x - 16, height, highest - 26, x - 16, height
    print "<title>The rooms of the program and their folders</title>"
    printf "<rect y=\"%d\" width=\"%d\" height=\"%d\" fill=\"white\"/>\n", highest - 26, x - 16, height
    printf "%s", svg
    print "</svg>"
}'
}

case ${1:-} in
--check)
    draw | cmp -s - "$picture" && exit
    echo "$picture: not what the sources include; run scripts/architecture.sh" >&2
    exit 1
    ;;
*) draw >"$picture" ;;
esac
