"""A lesson as a SCORM 1.2 package: what is in it, and what its page reports to a platform, played under node. The desktop program, which
is on the PATH, makes the page."""

import io
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

import handins

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMS, ADL = "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}", "{http://www.adlnet.org/xsd/adlcp_rootv1p2}"


def scorm(*arguments):
    return subprocess.run([sys.executable, "-m", "decoderscope", "scorm", *map(str, arguments)], capture_output=True, encoding="utf-8")


class Package(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def package_of(self, *options):
        done = scorm(*options, "--out", self.folder / "lesson.zip")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return (self.folder / "lesson.zip").read_bytes()

    def page_of(self, *options):
        with zipfile.ZipFile(io.BytesIO(self.package_of(*options))) as package:
            self.assertEqual(package.namelist(), ["imsmanifest.xml", "index.html"])
            self.assertIsNone(package.testzip())
            return package.read("index.html").decode()

    def test_it_has_a_manifest_and_the_page_and_the_same_bytes_each_time(self):
        written = self.package_of("weight")
        self.assertTrue(written.startswith(b"PK"))
        self.assertEqual(written, self.package_of("weight"))
        with zipfile.ZipFile(io.BytesIO(written)) as package:
            text = package.read("imsmanifest.xml").decode()
        self.assertIn("<schemaversion>1.2</schemaversion>", text)
        manifest = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(manifest.get("identifier"), "decoderscope-weight")
        self.assertEqual([one.text for one in manifest.iter(IMS + "title")], ["A weight is a comparison"] * 2)
        resource = manifest.find(f"{IMS}resources/{IMS}resource")
        self.assertEqual((resource.get(ADL + "scormtype"), resource.get("href")), ("sco", "index.html"))

    def test_its_options(self):
        self.assertIn("The first answer to each question counts.", self.page_of("weight"))
        self.assertIn("The first 3 answers to each question count.", self.page_of("weight", "--tries", 3))
        chinese = self.page_of("weight", "--language", "zh_CN")
        self.assertIn('<html lang="zh-CN">', chinese)
        self.assertIn("没有找到学习平台", chinese)
        self.assertNotEqual(self.page_of("weight", "--seed", 2), self.page_of("weight"))
        self.assertIn("https://example.org/decoderscope/", self.page_of("weight", "--site", "https://example.org/decoderscope/"))
        self.assertIn('class="key"', self.page_of("weight", "--answers"))
        text = (handins.lessons / "weight" / "lesson.md").read_text(encoding="utf-8")
        lesson = self.folder / "mine & yours.md"
        handins.write(lesson, text.replace("```lesson\n", "```lesson\ntries: 2\n").replace("# A weight", "# A & B", 1))
        self.assertIn("The first 2 answers to each question count.", self.page_of(lesson, "--tries", 3))  # as the lesson says

    def test_what_cant_be_written_is_one_sentence(self):
        for arguments, status, said in ((["weihgt", "--out", self.folder / "x.zip"], 1, "weihgt: neither a lesson's name nor a file"),
                                        (["weight", "--language", "xx", "--out", self.folder / "x.zip"], 1, "not in the language xx"),
                                        (["weight", "--out", self.folder / "no" / "x.zip"], 1, "x.zip: cannot be written: "),
                                        (["weight"], 2, "--out"), (["weight", "--tries", 0, "--out", self.folder / "x.zip"], 2, "from 1 to 1000")):
            done = scorm(*arguments)
            self.assertEqual(done.returncode, status)
            self.assertIn(said, done.stderr)
            if status == 1:
                self.assertTrue(done.stderr.startswith("decoderscope scorm: ") and done.stderr.count("\n") == 1, done.stderr)
        self.assertFalse((self.folder / "x.zip").exists())

    def test_the_old_command_says_where_it_moved(self):
        for options in (["--out", self.folder / "x.zip"], ["--out", self.folder / "x.html", "--tries", "2"]):
            done = subprocess.run(["decoderscope", "lessons", "export", "weight", *options], capture_output=True, encoding="utf-8")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "decoderscope: lessons export --out FILE.zip has moved to the Python package: "
                                          "python3 -m decoderscope scorm NAME --out FILE.zip, with the same options\n")

    def test_documented_commands(self):
        lines = [line.strip() for file in sorted((ROOT / "docs").glob("*.md")) for line in file.read_text(encoding="utf-8").splitlines()
                 if line.startswith("    python3 -m decoderscope scorm ")]
        self.assertTrue(lines)
        for line in lines:
            done = subprocess.run(shlex.split(line.replace("python3", shlex.quote(sys.executable), 1)), cwd=self.folder, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipIf(shutil.which("node") is None, "node is not installed")
    def test_it_reports_score_and_status_to_the_platform_that_plays_it(self):
        html = self.page_of("weight")
        scripts = "\n".join(re.findall(r"<script>(.*?)</script>", html, re.DOTALL))
        player = (ROOT / "tests" / "notebook" / "player_for_scorm.js").read_text(encoding="utf-8")
        handins.write(self.folder / "play.js", f"const html = {json.dumps(html)};\nconst visit = (window, document, FormData, CustomEvent) => {{\n"
                                               f"{scripts}}};\n{player}")
        done = subprocess.run(["node", self.folder / "play.js"], capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(said["refused"], [])  # every value is one that SCORM 1.2 allows
        self.assertEqual(said["calls"], ["Initialize", "Commit", "Commit", "Commit", "Commit", "Finish"])
        count = said["count"]
        self.assertGreater(count, 2)
        self.assertEqual(said["begun"], "incomplete")
        halfway = said["halfway"]
        self.assertAlmostEqual(float(halfway["cmi.core.score.raw"]), 100 / count, delta=0.005)
        self.assertEqual((halfway["cmi.core.score.min"], halfway["cmi.core.score.max"]), ("0", "100"))
        self.assertEqual(halfway["cmi.core.lesson_status"], "incomplete")
        self.assertEqual([halfway[f"cmi.interactions.{i}.result"] for i in range(2)], ["correct", "wrong"])
        self.assertEqual(halfway["cmi.interactions._count"], "2")
        # All but the second are right at the first answer.
        kept = said["kept"]
        self.assertAlmostEqual(float(kept["cmi.core.score.raw"]), 100 * (count - 1) / count, delta=0.005)
        self.assertEqual((kept["cmi.core.lesson_status"], kept["cmi.core.exit"]), ("completed", ""))
        self.assertIn(f"Right: 1 of {count}", said["resumed"])
        self.assertIn("nothing is reported", said["alone"])


if __name__ == "__main__":
    unittest.main()
