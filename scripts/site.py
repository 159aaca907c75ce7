#!/usr/bin/env python3
"""Makes of a program for the browser the folder that a server serves, and the page in one file.

    scripts/site.py PROGRAM FONTS SITE PAGE

    PROGRAM   a folder with decoderscope_page.js and decoderscope_page.wasm
    FONTS     the fonts of the first picture, below the paths that the system's have
    SITE      the folder to make; PAGE: the file

Beside each file of SITE lies the same as .br and .gz, for servers that hand those out. The names of all but index.html and
offline.js say what is in them: a page gets the files that it was made with, or none, and a browser may keep them for ever.

PAGE needs no network and no origin of its own: its files stand in it as base64 of what gzip makes of them. What a notebook
sends itself (bundled models, the lessons' files) and the large fonts stay out.
"""

import array
import base64
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
          "img-src blob: data:; base-uri 'none'; form-action 'none'")
PAGE = pathlib.Path("app/window/browser")
SHARE = "/usr/share/decoderscope/"
SYSTEM_FONTS = pathlib.Path("/usr/share/fonts")
LARGE_FONTS = [SYSTEM_FONTS / "opentype/noto/NotoSansCJK-Regular.ttc", SYSTEM_FONTS / "truetype/ancient-scripts/Symbola_hint.ttf"]


def planes_of(weights):
    """Weights, so that they compress better by a tenth (app/window/browser/files.js): of each number the first bit, its sign,
    becomes the last, so that a byte is the whole exponent; then all first bytes stand before all second ones."""
    whole = len(weights) // 4 * 4
    turned = array.array("I", (n << 1 & 0xffffffff | n >> 31 for n in array.array("I", weights[:whole])))
    turned = turned.tobytes() + weights[whole:]
    return b"".join(turned[i::4] for i in range(4))


def compress(file):
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    # Of the large fonts, and of a program that was built quickly, the best would take a minute and win a twentieth.
    quality = 11 if file.stat().st_size < 12e6 else 5
    subprocess.run(["brotli", f"--quality={quality}", "--lgwin=24", "--force", file], check=True)


class Site:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)

    def put(self, name, data, named=True):
        """Returns the name that it gets."""
        if named:
            path = pathlib.PurePath(name)
            name = str(path.with_name(f"{path.stem}-{hashlib.sha256(data).hexdigest()[:12]}{path.suffix}"))
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return name

    def put_for(self, when, file, path):
        """A file that the program looks for at this path, as the list has it."""
        data, planes = file.read_bytes(), 0
        if file.suffix == ".safetensors":
            data, planes = planes_of(data), 4
        name = path.removeprefix("/usr/share/").replace("/", "_")
        return {"name": self.put(f"files/{when}/{name}", data), "path": path, "size": len(data), "planes": planes}


def put_files(site, small_fonts):
    assets = [path for path in sorted(pathlib.Path("assets").rglob("*"))
              if path.is_file() and path.suffix not in (".py", ".pot") and path.name != "README.md"]
    fonts = [path for path in sorted(small_fonts.rglob("*")) if path.is_file()]
    is_first = [path.is_relative_to("assets/models/words") for path in assets]

    def entries(when, files):
        return [site.put_for(when, file, path) for file, path in files]

    def paths_of(wanted):
        return [(path, SHARE + str(path.relative_to("assets"))) for path, first in zip(assets, is_first) if first == wanted]

    as_system = [SYSTEM_FONTS / font.relative_to(small_fonts) for font in fonts]
    return {"first": entries("first", [*paths_of(True), *((font, str(system)) for font, system in zip(fonts, as_system))]),
            "later": entries("later", [*((system, str(system)) for system in as_system), *paths_of(False)]),
            "onDemand": entries("demand", [(font, str(font)) for font in LARGE_FONTS])}


def as_json(value):
    return json.dumps(value, separators=(",", ":")).encode()


def make_site(program, small_fonts, folder):
    site = Site(folder)
    files = put_files(site, small_fonts)
    names = {name: site.put(name, (PAGE / name).read_bytes()) for name in ("page.css", "start.js", "files.js")}
    names |= {name: site.put(name, (program / name).read_bytes()) for name in ("decoderscope_page.js", "decoderscope_page.wasm")}
    names["list.json"] = site.put("list.json", as_json(files))
    index = re.sub(r'(href|src)="([\w.]+)"', lambda found: f'{found[1]}="{names[found[2]]}"', (PAGE / "index.html").read_text())
    site.put("index.html", index.encode(), named=False)
    kept = ["./", *names.values(), *(entry["name"] for when in ("first", "later") for entry in files[when])]
    worker = (PAGE / "offline.js").read_text().replace("@VERSION@", hashlib.sha256(as_json([index, kept])).hexdigest()[:12])
    site.put("offline.js", worker.replace("'@FILES@'", as_json(kept).decode()).encode(), named=False)
    with ThreadPoolExecutor() as threads:
        list(threads.map(compress, [path for path in sorted(folder.rglob("*")) if path.is_file()]))
    return files, names


def inert(name, data):
    """Bytes that stand in the page, and are read by their name (app/window/browser/files.js)."""
    return f'<script type="application/octet-stream" data-address="{name}">{base64.b64encode(data).decode()}</script>\n'


def one_page(folder, files, names):
    def packed(name):
        return inert(name, (folder / (name + ".gz")).read_bytes())

    def stays_out(path):
        return path.startswith((SHARE + "models/", SHARE + "lessons/"))

    kept = {when: [entry for entry in files[when] if not stays_out(entry["path"])] for when in ("first", "later")}
    head, body = (folder / "index.html").read_text().split("<body>")
    head = re.sub(r'(http-equiv="Content-Security-Policy" content=)"[^"]*"', lambda found: f'{found[1]}"{POLICY}"', head)
    head = head.replace(f'<link rel="stylesheet" href="{names["page.css"]}">', f"<style>{(PAGE / 'page.css').read_text()}</style>")
    head = head.replace('rel="preload" ', "")
    inside = inert(names["list.json"], gzip.compress(as_json({**kept, "onDemand": []}), 9, mtime=0))
    inside += packed(names["decoderscope_page.wasm"])
    inside += "".join(packed(entry["name"]) for entry in [*kept["first"], *kept["later"]])

    def script(found):
        text = (folder / found[1]).read_text().replace("</script", "<\\/script")
        return f"<script>{text}</script>\n"

    return head + "<body>" + re.sub(r'<script src="([^"]+)"></script>\n', script, body).replace("<script>", inside + "<script>", 1)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    program, fonts, folder, page = map(pathlib.Path, sys.argv[1:])
    text = one_page(folder, *make_site(program, fonts, folder))
    page.write_text(text)
    print(f"{page}: {len(text.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
