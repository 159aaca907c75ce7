#!/usr/bin/env python3
"""Compares pictures of the window on Windows with those on Linux: compare_pictures.py FOLDER NAME ...
For each name FOLDER/NAME-windows.png and FOLDER/NAME-linux.png, as ImageMagick's convert reads them.

Both draw the same triangles with the same fonts, by one driver; products are summed in another order, which may change a
number's last digit. So no block of 16 x 16 pixels may differ in its mean by more than 16 levels of 255, nor more than 0.05 % of
the pixels by more than 32 levels: tests/browser/test_pictures.mjs has the same bounds. Two different tabs of one system must be
further apart than that. Status 1 otherwise."""
import itertools
import subprocess
import sys

BLOCK, BLOCK_LEVELS, PIXEL_LEVELS, PIXELS = 16, 16, 32, 0.0005


def picture(path):
    header = subprocess.run(["identify", "-format", "%w %h", path], capture_output=True, check=True, text=True).stdout
    width, height = map(int, header.split())
    return width, height, subprocess.run(["convert", path, "-depth", "8", "rgb:-"], capture_output=True, check=True).stdout


def difference(a, b):
    """By how many levels the block differs most that does, and which share of pixels differs by more than PIXEL_LEVELS."""
    (width, height, ours), (other_width, other_height, theirs) = a, b
    if (width, height) != (other_width, other_height):
        return 255.0, 1.0
    across = -(-width // BLOCK)
    sums, others, row = {}, 0, 3 * width
    for y in range(height):
        if ours[y * row : (y + 1) * row] == theirs[y * row : (y + 1) * row]:
            continue
        for x in range(width):
            at = y * row + 3 * x
            one, other = ours[at : at + 3], theirs[at : at + 3]
            if one == other:
                continue
            by = [p - q for p, q in zip(one, other)]
            others += max(map(abs, by)) > PIXEL_LEVELS
            block = sums.setdefault(y // BLOCK * across + x // BLOCK, [0, 0, 0])
            for colour in range(3):
                block[colour] += by[colour]
    most = max((abs(level) for block in sums.values() for level in block), default=0)
    return most / BLOCK**2, others / (width * height)


def told(levels, pixels):
    return f"a block by {levels:.1f} levels, {100 * pixels:.3f} % of the pixels by more than {PIXEL_LEVELS}"


def main(folder, *names):
    failed = 0
    linux = {name: picture(f"{folder}/{name}-linux.png") for name in names}
    for name in names:
        levels, pixels = difference(picture(f"{folder}/{name}-windows.png"), linux[name])
        alike = levels <= BLOCK_LEVELS and pixels <= PIXELS
        failed += not alike
        print(f"  {name}: {told(levels, pixels)}{'' if alike else ': not alike'}")
    for one, other in itertools.pairwise(names):
        levels, pixels = difference(linux[one], linux[other])
        if levels <= 2 * BLOCK_LEVELS or pixels <= 10 * PIXELS:
            print(f"  {one} and {other} are one picture: {told(levels, pixels)}")
            failed += 1
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
