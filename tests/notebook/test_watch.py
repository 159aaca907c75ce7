"""python -m decoderscope watch, as a person runs it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import decoderscope
import test_bisection

root = pathlib.Path(__file__).resolve().parents[2]
MODEL = """import sys
sys.path += {paths!r}
import tutorial
tutorial.FIXED = {fixed}
def make():
    return tutorial.StoryTeller()
"""
PATHS = [str(root / "assets" / "recorder"), str(root / "tests" / "reference" / "bugs")]


class Watch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "right.safetensors").write_bytes(test_bisection.recorded(True).data)
        self.write(MODEL.format(paths=PATHS, fixed=False))

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text):
        (self.path / "model.py").write_text(text)

    def command(self, *arguments):
        return [sys.executable, "-W", "ignore", "-m", "decoderscope", "watch", *arguments]

    def once(self, model="model.py:make", against="right.safetensors", *more):
        done = subprocess.run(self.command(model, "--against", against, "--once", *more), cwd=self.path, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_a_difference_is_status_1_and_none_is_0(self):
        status, out, err = self.once()
        self.assertEqual(status, 1, err)
        self.assertIn("causal-one-too-far", out)
        self.assertRegex(out, r"tutorial\.py:\d+: weights = torch\.softmax")
        self.write(MODEL.format(paths=PATHS, fixed=True))
        status, out, err = self.once()
        self.assertEqual((status, err), (0, ""), out)

    def test_what_cannot_be_written_is_status_2(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(self.command("model.py:make", "--against", "right.safetensors", "--once"), cwd=self.path, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertIn("standard output", done.stderr)

    def test_what_goes_wrong_is_one_line(self):
        for arguments, words in ((("nowhere.py:make",), "nowhere.py:make: there is no such file"), (("model.py:other",), "no other in it"),
                                 (("model.py:sys",), "TypeError"), (("model.py:make", "nothing.safetensors"), "expected a recording"),
                                 (("model.py:make", "right.safetensors", "--set", "causal"), "expected KEY=VALUE")):
            status, out, err = self.once(*arguments)
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1), err)
            self.assertIn(words, err)
        self.write("def make(:\n")
        self.assertRegex(self.once()[2], r"^\S*model\.py:1: SyntaxError: .*\n$")
        self.write("import torch\nclass Model(torch.nn.Module):\n    def forward(self, tokens):\n        return tokens.nothing\n")
        self.assertRegex(self.once("model.py:Model")[2], r"^\S*model\.py:4: AttributeError: .*\n$")

    def test_the_recording_is_kept_and_a_window_is_opened_on_it(self):
        status, _, err = self.once("model.py:make", "right.safetensors", "--record", "mine.safetensors")
        self.assertEqual((status, err), (1, ""))
        self.assertIn("(model)/out", decoderscope.Recording.of_file(str(self.path / "mine.safetensors")))
        status, _, err = self.once("model.py:make", "right.safetensors", "--record", "nowhere/mine.safetensors")
        self.assertEqual((status, len(err.splitlines())), (2, 1), err)
        # In place of the window: what it would open is copied, and bisected by the program that is installed.
        program = shutil.which("decoderscope")
        (self.path / "bin").mkdir()
        opener = self.path / "bin" / "decoderscope"
        opener.write_text(f'#!/bin/sh\ncase $1 in\n*.dscope) cp "$1" "{self.path}/opened.dscope" ;;\n*) exec "{program}" "$@" ;;\nesac\n')
        opener.chmod(0o755)
        running = subprocess.Popen(self.command("model.py:make", "--against", "right.safetensors", "--window"), cwd=self.path,
                                   stdout=subprocess.DEVNULL, env={**os.environ, "PATH": f"{opener.parent}:{os.environ['PATH']}"})
        try:
            for _ in range(600):
                if (self.path / "opened.dscope").exists():
                    break
                time.sleep(0.1)
            opened = json.loads((self.path / "opened.dscope").read_text())
            self.assertEqual(opened["model"]["path"], str((self.path / "right.safetensors").resolve()))
            self.assertEqual(opened["compare"]["with"], "bisect")
            self.assertTrue(pathlib.Path(opened["compare"]["file"]).exists())
        finally:
            running.terminate()
            running.wait()

    def test_it_runs_again_when_the_file_is_saved(self):
        out = self.path / "out.txt"
        with out.open("w") as file:
            running = subprocess.Popen(self.command("model.py:make", "--against", "right.safetensors"), cwd=self.path, stdout=file,
                                       stderr=subprocess.STDOUT)
            try:
                self.wait_for(out, 1, "causal-one-too-far")
                self.write(MODEL.format(paths=PATHS, fixed=True))
                os.utime(self.path / "model.py", (time.time() + 2, time.time() + 2))
                self.wait_for(out, 2, "agree")
            finally:
                running.terminate()
                running.wait()
        self.assertNotIn("causal", self.run_of(out, 2))

    def run_of(self, path, number):
        return "".join(path.read_text().split("== ")[number:number + 1])

    def wait_for(self, path, number, words):
        for _ in range(600):
            if words in self.run_of(path, number):
                return
            time.sleep(0.1)
        self.fail(f"{words} was expected: {path.read_text()}")


if __name__ == "__main__":
    unittest.main()
