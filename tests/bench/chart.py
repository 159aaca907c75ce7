"""Draws the results of against_torch.py --json FILE as an SVG: python3 chart.py FILE > performance.svg

A pair of bars a case: PyTorch's time is 1, ours its share; a mark stands where we want to be. One hue for each program,
told apart by length and label, too.
"""

import json
import sys
from html import escape

WIDTH, LEFT, RIGHT, ROW, BAR = 760, 190, 150, 44, 13
OURS, THEIRS, INK, MUTED, LINE = "#0072B2", "#B8BCC4", "#1B1D21", "#5C6370", "#D5D8DD"


def milliseconds(value):
    return f"{value:,.0f} ms" if value >= 1000 else f"{value:.3g} ms"


def text(x, y, words, anchor="start", color=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="12.5" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def bar(x, y, width, color):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{BAR}" rx="2" fill="{color}"/>'


def row(name, r, top):
    full = WIDTH - LEFT - RIGHT
    ratio = r["ours"] / r["plain"]
    wanted = LEFT + full * r["wanted"]
    return [text(LEFT - 12, top + 18, name, anchor="end"),
            bar(LEFT, top + 2, full * ratio, OURS), bar(LEFT, top + 4 + BAR, full, THEIRS),
            f'<path d="M {wanted:.1f} {top - 1:.1f} v {BAR + 5}" stroke="{INK}" stroke-width="1.5"/>',
            text(WIDTH - RIGHT + 12, top + 13, f"{ratio:.2f} · {milliseconds(r['ours'])}", weight="bold"),
            text(WIDTH - RIGHT + 12, top + 28, f"1 · {milliseconds(r['plain'])}", color=MUTED)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = {name: r for name, r in json.load(file).items() if "plain" in r}
    height = 58 + ROW * len(cases)
    parts = [text(LEFT, 22, "Decoderscope, everything recorded", color=OURS, weight="bold"),
             text(LEFT + 232, 22, "PyTorch, recording nothing", color=MUTED, weight="bold"),
             text(LEFT + 418, 22, "| wanted", color=INK)]
    for number, (name, r) in enumerate(cases.items()):
        parts += row(name, r, 40 + ROW * number)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
          'font-family="Inter, DejaVu Sans, sans-serif">')
    print(f'<rect width="{WIDTH}" height="{height}" fill="white"/>')
    print("\n".join(parts))
    print("</svg>")


if __name__ == "__main__":
    main()
