#!/usr/bin/env python3
"""Puts the browser's page into one file, which needs no network and no origin of its own.

    scripts/one_page.py SITE FILE      # SITE: the folder that scripts/browser.sh makes

The program, its fonts, messages and models stand in the file as base64 of what SITE has packed. What a notebook sends
itself (bundled models, the lessons' files) and the large font with Chinese, Japanese and Korean stay out.
"""

import base64
import json
import lzma
import pathlib
import re
import sys

POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
          "img-src blob: data:; base-uri 'none'; form-action 'none'")
# As scripts/browser.sh packs, and app/browser/main_unpack.cpp unpacks.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 8 << 20, "lc": 4, "lp": 0, "pb": 0}]


def stays_out(path):
    return path.startswith(("/usr/share/decoderscope/models/", "/usr/share/decoderscope/lessons/"))


def packed_list(listed):
    kept = {when: [entry for entry in listed[when] if not stays_out(entry["path"])] for when in ("first", "later")}
    text = json.dumps({**kept, "onDemand": []}, separators=(",", ":")).encode()
    entries = [*kept["first"], *kept["later"]]
    return entries, lzma.compress(text, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def inert(address, data):
    """Bytes that stand in the page, and are read by their address (app/window/browser/files.js)."""
    return f'<script type="application/octet-stream" data-address="{address}">{base64.b64encode(data).decode()}</script>\n'


def script(text):
    return "<script>" + text.replace("</script", "<\\/script") + "</script>\n"


def one_page(site):
    site = pathlib.Path(site)
    entries, packed = packed_list(json.loads(lzma.decompress((site / "files/list.json.xz").read_bytes())))
    page = (site / "index.html").read_text()
    head, body = page.split("<body>")
    head = re.sub(r'(http-equiv="Content-Security-Policy" content=)"[^"]*"', lambda found: f'{found[1]}"{POLICY}"', head)
    head = head.replace('<link rel="stylesheet" href="page.css">', "<style>" + (site / "page.css").read_text() + "</style>")
    files = inert("files/list.json.xz", packed)
    for address in ("unpack.zlib", "decoderscope_page.js.xz", "decoderscope_page.wasm.xz",
                    "decoderscope_second.wasm.xz"):
        files += inert(address, (site / address).read_bytes())
    for entry in entries:
        address = f"files/{entry['name']}.xz"
        files += inert(address, (site / address).read_bytes())
    body = re.sub(r'<script src="([^"]+)"></script>\n', lambda found: script((site / found[1]).read_text()), body)
    return head + "<body>" + body.replace("<script>", files + "<script>", 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    text = one_page(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text(text)
    print(f"{sys.argv[2]}: {len(text.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
