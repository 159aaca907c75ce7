#!/usr/bin/env python3
"""Puts pictures into one icon of Windows: make_icon.py OUT PICTURE.png ... Each is square and has at most 256 pixels a side."""
import struct
import sys

out, *pictures = sys.argv[1:]
files = [open(picture, "rb").read() for picture in pictures]
place = 6 + 16 * len(files)
head = struct.pack("<HHH", 0, 1, len(files))
for file in files:
    side = struct.unpack(">I", file[16:20])[0]
    head += struct.pack("<BBBBHHII", side % 256, side % 256, 0, 0, 1, 32, len(file), place)
    place += len(file)
open(out, "wb").write(head + b"".join(files))
