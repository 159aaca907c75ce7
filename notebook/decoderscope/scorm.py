"""python -m decoderscope scorm: a lesson's page as a package for learning platforms, SCORM 1.2. The desktop program makes the page."""

from __future__ import annotations

import argparse
import io
import json
import pathlib
import re
import subprocess
import tempfile
import zipfile
from typing import Optional

from .files import desktop_program, in_file_name, write_whole
from .grade import whole_tries
from .overlay import Problem

# IMS Content Packaging 1.1.2 with SCORM 1.2's extensions: one organisation of one item.
_MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="{name}" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
 <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
 <organizations default="course">
  <organization identifier="course">
   <title>{title}</title>
   <item identifier="lesson" identifierref="page"><title>{title}</title></item>
  </organization>
 </organizations>
 <resources>
  <resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="index.html"><file href="index.html"/></resource>
 </resources>
</manifest>
"""
# What the page says besides, in the languages of the program's lessons.
_WORDS = {
    "en": {"counted": "Right: {right} of {count}.", "first": "The first answer to each question counts.",
           "rule": "The first {tries} answers to each question count.", "alone": "No learning platform was found: nothing is reported."},
    "zh-CN": {"counted": "共 {count} 题，已答对 {right} 题。", "first": "每题只计前 {tries} 次作答。",
              "rule": "每题只计前 {tries} 次作答。", "alone": "没有找到学习平台：成绩不会上报。"},
}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("scorm", help="write a lesson as a package for learning platforms (SCORM 1.2)",
                                  description="Writes a lesson as a package for learning platforms, SCORM 1.2.")
    command.add_argument("lesson", metavar="LESSON", help="a lesson's name or its file")
    command.add_argument("--out", required=True, metavar="FILE.zip", help="the package")
    command.add_argument("--tries", type=whole_tries, default=1, metavar="N",
                         help="how many answers to a question count, if the lesson doesn't say; without it, the first one")
    command.add_argument("--language", help="zh_CN, for example: a lesson's translation")
    command.add_argument("--answers", action="store_true", help="print the answers at the end of the page")
    command.add_argument("--seed", metavar="N", help="the order of the choices: a different number gives a different version")
    command.add_argument("--site", metavar="ADDRESS", help="the browser version's address: places and tasks link to it")
    command.set_defaults(work=_write)


def _write(wanted: argparse.Namespace) -> int:
    options = [part for name in ("language", "seed", "site") if getattr(wanted, name) for part in (f"--{name}", getattr(wanted, name))]
    write_whole(wanted.out, package_of(wanted.lesson, wanted.tries, [*options, *(["--answers"] if wanted.answers else [])]))
    return 0


def package_of(lesson: str, tries: int = 1, options: Optional[list[str]] = None) -> bytes:
    """The zip: a manifest and the page, which reports score (0 to 100, of the questions that a page can judge) and status
    ("completed" once each is solved or its answers are used up). The same bytes each time.

    tries     how many answers to a question count, if the lesson doesn't say
    options   of `decoderscope lessons export`
    """
    page = _page_of(lesson, options or [])
    head = re.search(r'<html lang="([^"]*)">.*?<title>(.*?)</title>.*?<main data-tries="(\d+)">', page, re.DOTALL)
    if head is None:
        raise Problem(f"{lesson}: this desktop program writes another page; expected one of the package's own version")
    language, title, of_lesson = head.groups()
    count = int(of_lesson) or tries
    words = _WORDS.get(language, _WORDS["en"])
    said = {"tries": count, "counted": words["counted"], "rule": words["first" if count == 1 else "rule"].replace("{tries}", str(count)),
            "alone": words["alone"]}
    script = (pathlib.Path(__file__).parent / "scorm.js").read_text(encoding="utf-8")
    page = page.replace("</body>", f"<script>const scorm = {json.dumps(said, ensure_ascii=False)};\n{script}</script>\n</body>")
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as package:
        manifest = _MANIFEST.format(name="decoderscope-" + in_file_name(lesson), title=title)
        for name, contents in (("imsmanifest.xml", manifest), ("index.html", page)):
            package.writestr(zipfile.ZipInfo(name), contents.encode())  # of 1980, stored
    return written.getvalue()


def _page_of(lesson: str, options: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "lesson.html"
        done = subprocess.run([desktop_program(), "lessons", "export", "--out", str(page), *options, "--", lesson],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode != 0:
            said = done.stderr.strip() or f"the program ended with {done.returncode}"
            raise Problem(said[len("decoderscope: "):] if said.startswith("decoderscope: ") else said)
        return page.read_text(encoding="utf-8")
