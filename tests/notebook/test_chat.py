"""Messages, labels and losses: the losses beside PyTorch's, and labels of one's own beside the program's."""

import doctest
import importlib
import json
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F

import decoderscope as ds

TALK = [{"role": "user", "content": "Hello there"}, {"role": "assistant", "content": "Hello, friend."}]
LONGER = TALK + [{"role": "user", "content": "And so"}, {"role": "assistant", "content": "to bed!"}]


def logits_of(messages):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "messages.json", pathlib.Path(folder) / "made.safetensors"
        given.write_text(json.dumps(messages))
        subprocess.run(["decoderscope", "trace", "verses", "--messages", str(given), "--chat-template", "names", "--out", str(made)],
                       check=True, capture_output=True)
        data = made.read_bytes()
    size = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:8 + size])["logits"]
    begin, end = entry["data_offsets"]
    return torch.from_numpy(np.frombuffer(data[8 + size + begin:8 + size + end], np.float32).reshape(entry["shape"]).copy())


class Chat(unittest.TestCase):
    def test_losses_are_pytorchs_with_labels_shifted_by_one(self):
        made = ds.chat("verses", [TALK, LONGER], "names")
        logits = logits_of([TALK, LONGER])
        length = logits.shape[1]
        labels = torch.tensor([row + [-100] * (length - len(row)) for row in made.labels])
        loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], reduction="none")
        self.assertGreater(int((labels[:, 1:] != -100).sum()), 20)
        for row, losses in enumerate(made.losses):
            for position, found in enumerate(losses):
                if found is None:
                    self.assertEqual(labels[row, position].item(), -100)
                else:
                    self.assertAlmostEqual(found, loss[row, position - 1].item(), places=4)
        mean = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:])
        self.assertAlmostEqual(made.loss, mean.item(), places=4)

    def test_labels_of_ones_own_are_compared(self):
        made = ds.chat("verses", TALK, "names")
        self.assertEqual(made.differs(made.labels), [])
        self.assertEqual(made.differs([made.labels[0] + [-100, -100]]), [])
        wrong = [list(made.labels[0])]
        wrong[0][3] = 7
        self.assertEqual(made.differs(wrong), ["row 0, position 3: label 7, expected -100"])
        self.assertIn("0 rows of labels, expected 1", made.differs([]))

    def test_a_template_is_a_name_or_the_template_itself(self):
        own = "{% for m in messages %}{% generation %}{{ m.content }}. {% endgeneration %}{% endfor %}"
        made = ds.chat("verses", TALK, own)
        self.assertEqual(made.text, ["Hello there. Hello, friend.. "])
        self.assertEqual({role for role, label in zip(made.roles[0], made.labels[0]) if label != -100}, {"assistant"})
        self.assertTrue(any("says itself what is trained" in finding for finding in made.findings))
        self.assertTrue(any("never trained" in finding for finding in made.wrong))

    def test_what_is_wrong_is_one_sentence(self):
        with self.assertRaisesRegex(ds.Problem, "^chat: template.jinja: line 1: the filter nofilter is unknown here"):
            ds.chat("verses", TALK, "{{ messages|nofilter }}")
        with self.assertRaisesRegex(ds.Problem, "expected a file, or one of names, chatml"):
            ds.chat("verses", TALK, "nonsense")
        with self.assertRaisesRegex(ds.Problem, "^chat: messages.json: conversation 1, message 1"):
            ds.chat("verses", [{"content": "x"}])
        with mock.patch.dict("os.environ", PATH="/nowhere"), self.assertRaisesRegex(ds.Problem, "expected the desktop program"):
            ds.chat("verses", TALK)

    def test_the_example_in_its_documentation_holds(self):
        done = doctest.testmod(importlib.import_module("decoderscope.chat"))
        self.assertGreater(done.attempted, 0)
        self.assertEqual(done.failed, 0)


if __name__ == "__main__":
    unittest.main()
