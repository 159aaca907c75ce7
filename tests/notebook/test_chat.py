"""Messages, labels and losses: the losses beside PyTorch's, and labels of one's own beside the program's."""

import doctest
import importlib
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F

import decoderscope as ds
from decoderscope.chat import FORMATS, lay_out, templates_of

chat_module = importlib.import_module("decoderscope.chat")

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


class Command(unittest.TestCase):
    """python3 -m decoderscope chat, on a checkpoint's folder, and the program on what it writes."""

    TEMPLATE = ("{{ bos_token }}{% for m in messages %}{% if m.role != 'system' %}<{{ m.role }}>{{ m.content | trim }}{{ eos_token }}"
                "{% endif %}{% endfor %}{{ strftime_now('%Y') if dated }}")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("tokenizer_config.json", {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "add_bos_token": True, "chat_template": [
            {"name": "tool_use", "template": "B"}, {"name": "default", "template": self.TEMPLATE}]})

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run_command(self, *words):
        return subprocess.run([sys.executable, "-m", "decoderscope", "chat", *words], capture_output=True, text=True)

    def laid(self, messages, *options):
        out = str(self.folder / "laid.json")
        done = self.run_command(str(self.folder), self.write("messages.json", messages), *options, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(pathlib.Path(out).read_text())

    def refused(self, messages, *options):
        (self.folder / "laid.json").unlink(missing_ok=True)
        done = self.run_command(str(self.folder), self.write("messages.json", messages), "--out", str(self.folder / "laid.json"), *options)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.folder / "laid.json").exists())
        return done.stderr.strip()

    def test_the_text_its_spans_and_roles_are_written(self):
        made = self.laid([{"role": "user", "content": " Hé "}, {"role": "assistant", "content": "Yo"}])
        (row,) = made["conversations"]
        self.assertEqual(row["text"], "<s><user>Hé</s><assistant>Yo</s>")
        self.assertEqual(row["spans"], [[9, 11, 0], [26, 28, 1]])
        self.assertEqual(row["roles"], ["user", "assistant"])
        self.assertEqual([row["text"][begin:end] for begin, end, _ in row["around"]], ["<user>", "</s>", "<assistant>", "</s>"])
        self.assertEqual((made["template"], made["train_on"]), ("default", "answers"))
        self.assertEqual([finding["wrong"] for finding in row["findings"]], [False])

    def test_templates_are_found_where_hugging_face_puts_them(self):
        self.assertEqual(self.laid(TALK, "--template", "tool_use")["conversations"][0]["text"], "B")
        self.write("chat_template.jinja", "C")
        self.write("additional_chat_templates/other.jinja", "D")
        self.assertEqual(self.laid(TALK)["conversations"][0]["text"], "C")
        self.assertEqual(list(templates_of(self.folder)[0]), ["default", "other", "tool_use"])
        self.assertEqual(templates_of(self.folder)[1], {"bos_token": "<s>", "eos_token": "</s>"})
        self.assertEqual(self.laid(TALK, "--template", self.write("own.jinja", "E"))["conversations"][0]["text"], "E")
        # A list has no names; an object, as Transformers 4 and 5 write it, has names that templates may use.
        self.write("tokenizer_config.json", {"bos_token": "<s>", "extra_special_tokens": ["<|a|>", "<|b|>"]})
        self.assertEqual(templates_of(self.folder)[1], {"bos_token": "<s>"})
        self.write("tokenizer_config.json", {"extra_special_tokens": {"image_token": "<image>"}})
        self.assertEqual(templates_of(self.folder)[1], {"image_token": "<image>"})
        self.write("tokenizer_config.json", {"chat_template": 1})
        self.assertIn("chat_template: expected a text", self.refused(TALK))

    def test_a_gguf_file_brings_its_templates_itself(self):
        def text(value):
            return struct.pack("<Q", len(value)) + value.encode()

        path = self.folder / "model.gguf"
        path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 4) + text("general.size") + struct.pack("<If", 6, 1.5)
                         + text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
                         + text("tokenizer.chat_template.tool_use") + struct.pack("<I", 8) + text("B")
                         + text("tokenizer.chat_template") + struct.pack("<I", 8) + text("A"))
        self.assertEqual(templates_of(path), ({"default": "A", "tool_use": "B"}, {}))
        path.write_bytes(path.read_bytes()[:60])
        with self.assertRaisesRegex(ds.Problem, "model.gguf: cannot be read, expected a GGUF file"):
            templates_of(path)

    def test_variables_the_date_and_a_begun_answer_reach_the_template(self):
        self.write("chat_template.jinja", "{{ strftime_now('%Y') if dated }}{{ messages[0].content }}{{ tools | length if tools }}"
                                          "{{ '<a>' if add_generation_prompt }}")
        made = self.laid(TALK, "--variables", '{"dated": true, "tools": [1, 2]}', "--date", "2025-01-31", "--generation-prompt")
        self.assertEqual(made["conversations"][0]["text"], "2025Hello there2<a>")
        self.assertEqual(made["date"], "2025-01-31")
        said = [finding["what"] for finding in made["conversations"][0]["findings"]]
        self.assertIn("The template leaves out message 2 of conversation 1, which is by assistant.", said)
        self.assertIn("The template asks for the date, which is taken as 2025-01-31.", said)

    def test_several_conversations_are_a_row_each(self):
        for given in ([TALK, LONGER], [{"messages": TALK}, {"messages": LONGER}], json.dumps({"messages": TALK}) + "\n" + json.dumps(LONGER)):
            self.assertEqual([len(row["roles"]) for row in self.laid(given)["conversations"]], [2, 4])

    def test_what_is_wrong_is_one_sentence_and_nothing_is_written(self):
        for broken in ("", "{", [], {}, 1, [1], [[]], [{}], [{"role": 1}], [{"content": "x"}], {"messages": {}}, {"messages": []},
                       [{"role": "user"}, 1], '{"messages": [{"role": "user"}]}\n{"messages": 1}', "[" * 100000):
            self.assertIn("messages.json: ", self.refused(broken))
        self.assertIn("messages.json: conversation 1, message 2: expected an object", self.refused([{"role": "user"}, {"content": "x"}]))
        self.assertIn("--variables: expected a JSON object", self.refused(TALK, "--variables", "[1]"))
        self.assertIn("date: tomorrow: expected one such as", self.refused(TALK, "--date", "tomorrow"))
        self.assertIn("own.jinja: line 2: Encountered unknown tag 'nosuch'", self.refused(TALK, "--template", self.write("own.jinja", "a\n{% nosuch %}")))
        self.assertIn("expected a file that can be written", self.refused(TALK, "--out", "/nowhere/laid.json"))
        self.assertIn("there is no such folder", self.run_command("/nowhere", "m.json", "--out", "x").stderr)
        self.assertEqual(self.run_command(str(self.folder), "m.json").returncode, 2)
        self.write("chat_template.jinja", "{{ raise_exception('only two can speak') }}")
        self.assertIn("default: line 1: only two can speak", self.refused(TALK))
        self.write("chat_template.jinja", "{{ '' }}")
        self.assertIn("the template writes nothing", self.refused(TALK))

    def test_the_program_shows_what_was_written(self):
        self.write("chat_template.jinja", "{% for m in messages %}{{ m.role }}: {% generation %}{{ m.content }}.{% endgeneration %} {% endfor %}")
        self.laid(LONGER, "--train-on", "last-answer")
        done = subprocess.run(["decoderscope", "chat", "verses", "--messages", str(self.folder / "laid.json"), "--json"],
                              capture_output=True, text=True, check=True)
        shown = json.loads(done.stdout)
        (row,) = shown["rows"]
        self.assertEqual(row["text"], "user: Hello there. assistant: Hello, friend.. user: And so. assistant: to bed!. ")
        self.assertEqual("".join(token["piece"] for token in row["tokens"] if token["label"] != -100), "to bed!.")
        self.assertEqual(row["spans"], [[6, 17, 0], [30, 44, 1], [52, 58, 2], [71, 78, 3]])
        self.assertIn("The template says itself what is trained, by {% generation %}.", [finding["what"] for finding in shown["findings"]])
        self.assertTrue(all("loss" in token for token in row["tokens"] if token["label"] != -100))


class Tokenizer:
    """As the tokenizers package has it: each character is a token, and so is each of these names."""

    NAMES = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]

    def encode(self, text, add_special_tokens=True):
        ids, offsets = ([0], [(0, 0)]) if add_special_tokens else ([], [])
        for found in re.finditer("|".join(map(re.escape, self.NAMES)) + "|.", text, re.S):
            ids.append(self.NAMES.index(found[0]) if found[0] in self.NAMES else ord(found[0]) + 100)
            offsets.append(found.span())
        return mock.Mock(ids=ids, offsets=offsets)

    def get_added_tokens_decoder(self):
        return dict(enumerate(self.NAMES))

    def id_to_token(self, token):
        return self.NAMES[token] if token < 4 else chr(token - 100)


class Labels(unittest.TestCase):
    """Tokens, labels and findings where the tokenizers package cuts the text: what tests/engine/test_conversation.cpp expects."""

    LETTERS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo."},
               {"role": "user", "content": "Ok"}, {"role": "assistant", "content": "By"}]

    def made(self, template="chatml", messages=None, ends=(3,), **options):
        cutter = chat_module._Cutter(Tokenizer(), set(ends))
        with mock.patch.object(chat_module._Cutter, "of", staticmethod(lambda model, special: cutter)):
            with mock.patch.object(chat_module, "templates_of", lambda model: ({}, {"bos_token": "<s>", "eos_token": "</s>"})):
                return lay_out(".", [messages or self.LETTERS], template, **options)

    def trained(self, **options):
        row = self.made(**options)["conversations"][0]
        self.assertEqual(len(row["tokens"]), len(row["labels"]))
        self.assertTrue(all(label in (token, -100) for token, label in zip(row["tokens"], row["labels"])))
        return "".join(Tokenizer().id_to_token(label) for label in row["labels"] if label != -100)

    def said(self, wrong, **options):
        return " ".join(finding["what"] for finding in self.made(**options)["conversations"][0]["findings"] if finding["wrong"] == wrong)

    def test_the_answers_are_trained_each_with_the_token_that_ends_it(self):
        self.assertEqual(self.trained(), "Yo.<|im_end|>By<|im_end|>")
        self.assertEqual(self.said(True), "")
        self.assertEqual(self.trained(train_on="last-answer"), "By<|im_end|>")
        self.assertTrue(self.trained(train_on="everything").startswith("<|im_start|>user\nHi<|im_end|>\n"))
        self.assertEqual(self.trained(template="inst", ends=(1,)), "Yo.</s>By</s>")

    def test_what_can_go_wrong_between_messages_and_labels_is_said(self):
        self.assertIn("Nothing is trained in conversation 1", self.said(True, messages=[{"role": "user", "content": "Hi"}]))
        self.assertIn("</s>, is never trained", self.said(True, ends=(1,)))
        self.assertIn("<|im_end|>, is never trained", self.said(True, template="headers"))
        self.assertIn("<|eot_id|> is no token", self.said(False, template="headers"))
        length = len(self.made()["conversations"][0]["tokens"])
        self.assertIn("4 tokens of conversation 1 are cut off at the end; 3 of them", self.said(True, max_length=length - 4))
        self.assertEqual(self.said(True, max_length=length), "")
        self.assertIn("would add a second one", self.said(False, template="headers"))
        self.assertIn("begins with <s> twice", self.said(True, template="headers", special_tokens=True))
        self.assertEqual(self.made(template="headers", special_tokens=True)["conversations"][0]["tokens"].count(0), 2)
        self.assertEqual(self.trained(template="headers"), self.trained(template="headers", special_tokens=True))
        self.assertIn("leaves out message 2 of conversation 1, which is by assistant",
                      self.said(True, template="{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"))
        self.assertIn("asks for the date, which is taken as 2026-11-27",
                      self.said(False, template="{{ strftime_now('%Y') }}{{ messages[0].content }}", date="2026-11-27"))

    def test_a_template_that_marks_what_is_generated_is_obeyed(self):
        marked = ("{% for m in messages %}{% if m.role == 'assistant' %}A{% generation %}{{ m.content }}!{% endgeneration %}"
                  "{% else %}{{ m.content }}{% endif %}{% endfor %}")
        self.assertEqual(self.trained(template=marked), "Yo.!By!")
        self.assertIn("says itself what is trained", self.said(False, template=marked))
        self.assertEqual(self.trained(template=marked, train_on="last-answer"), "By!")


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

    def test_a_format_is_what_the_program_writes(self):
        """The same texts are in tests/engine/test_conversation.cpp."""
        talk = [{"role": "user", "content": " Hé "}, {"role": "assistant", "content": "Yo\n"}]
        special = {"bos_token": "<s>", "eos_token": "</s>"}
        for name, expected in {
                "names": "user:  Hé  assistant: Yo\n assistant:",
                "chatml": "<|im_start|>user\n Hé <|im_end|>\n<|im_start|>assistant\nYo\n<|im_end|>\n<|im_start|>assistant\n",
                "headers": "<s><|start_header_id|>user<|end_header_id|>\n\nHé<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
                           "\n\nYo<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
                "inst": "<s>[INST]  Hé  [/INST] Yo\n</s>",
                "turns": "<s><start_of_turn>user\nHé<end_of_turn>\n<start_of_turn>model\nYo<end_of_turn>\n<start_of_turn>model\n"}.items():
            made = lay_out("nowhere", [talk], name, generation_prompt=True, variables=special)
            self.assertEqual(made["conversations"][0]["text"], expected)
        self.assertEqual(len(FORMATS), 5)
        with self.assertRaisesRegex(ds.Problem, "only user and assistant can speak here, not system"):
            lay_out("nowhere", [[{"role": "system", "content": "x"}]], "inst")
        self.assertEqual(ds.chat("verses", [TALK, LONGER], "names").spans[0], [(6, 17, 0), (29, 43, 1)])

    def test_what_is_wrong_is_one_sentence(self):
        with self.assertRaisesRegex(ds.Problem, "^chat: template.jinja: line 1: No filter named 'nofilter'"):
            ds.chat("verses", TALK, "{{ messages|nofilter }}")
        with self.assertRaisesRegex(ds.Problem, "expected a file, or one of names, chatml"):
            ds.chat("verses", TALK, "nonsense")
        with self.assertRaisesRegex(ds.Problem, "^chat: conversation 1, message 1: expected an object with"):
            ds.chat("verses", [{"content": "x"}])
        with self.assertRaisesRegex(ds.Problem, "^chat: train_on: nothing, expected one of answers"):
            ds.chat("verses", TALK, train_on="nothing")

    def test_without_the_program_the_text_and_whose_it_is_are_there(self):
        with mock.patch.dict("os.environ", PATH="/nowhere"):
            made = ds.chat("verses", TALK, "chatml")
        self.assertEqual(made.text, ["<|im_start|>user\nHello there<|im_end|>\n<|im_start|>assistant\nHello, friend.<|im_end|>\n"])
        self.assertEqual([made.text[0][begin:end] for begin, end, _ in made.spans[0]], [message["content"] for message in TALK])
        self.assertEqual((made.tokens, made.labels, made.loss), ([[]], [[]], None))

    def test_the_example_in_its_documentation_holds(self):
        done = doctest.testmod(importlib.import_module("decoderscope.chat"))
        self.assertGreater(done.attempted, 0)
        self.assertEqual(done.failed, 0)


if __name__ == "__main__":
    unittest.main()
