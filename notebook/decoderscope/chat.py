"""From messages to labels: what a chat template makes of them, and what is trained."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from .overlay import Problem


class Chat:
    """Messages as a chat template lays them out. Its lists are by row, then by position.

    text        what the template wrote
    tokens      ids
    labels      the same ids, or -100 where a position is not trained
    roles       of the message that a token belongs to; "" for what the template adds on its own
    losses      -ln of the probability that the model gave a trained token; None elsewhere
    findings    what is right and wrong, a sentence each; wrong: those alone that are wrong
    """

    def __init__(self, made: Mapping[str, Any]):
        rows = made["rows"]
        self.text: list[str] = [row["text"] for row in rows]
        self.tokens: list[list[int]] = [[token["token"] for token in row["tokens"]] for row in rows]
        self.labels: list[list[int]] = [[token["label"] for token in row["tokens"]] for row in rows]
        self.roles: list[list[str]] = [[token["role"] for token in row["tokens"]] for row in rows]
        self.losses: list[list[Optional[float]]] = [[token.get("loss") for token in row["tokens"]] for row in rows]
        self.findings: list[str] = [finding["what"] for finding in made["findings"]]
        self.wrong: list[str] = [finding["what"] for finding in made["findings"] if finding["wrong"]]
        self.loss: Optional[float] = made.get("loss")

    def differs(self, labels: Sequence[Sequence[int]]) -> list[str]:
        """Where labels of one's own are others, a sentence each: those of a collator, say. Shorter rows may be padded."""
        said = [] if len(labels) == len(self.labels) else [f"{len(labels)} rows of labels, expected {len(self.labels)}"]
        for number, (theirs, ours) in enumerate(zip(labels, self.labels)):
            padded = list(ours) + [-100] * (len(theirs) - len(ours))
            if len(theirs) < len(ours):
                said.append(f"row {number}: {len(theirs)} labels, expected {len(ours)}")
            for position, (their, our) in enumerate(zip(theirs, padded)):
                if int(their) != our:
                    said.append(f"row {number}, position {position}: label {int(their)}, expected {our}")
        return said


def chat(model: Union[str, pathlib.Path], messages: Any, template: Union[str, None] = None, train_on: str = "answers",
         max_length: Optional[int] = None, generation_prompt: bool = False, special_tokens: bool = False,
         variables: Optional[Mapping[str, Any]] = None) -> Chat:
    """Messages as the model's chat template writes them, whose each token is, and what is trained.

    model       a folder with a checkpoint and its tokenizer, or a bundled model's name
    messages    [{"role": …, "content": …}, …], or a list of such conversations
    template    Jinja, or a name: one of the checkpoint's, or chatml, headers, inst, turns, names; None: the checkpoint's
    train_on    "answers", "last-answer" or "everything"

    Problem says what is wrong with the template, the messages or the model. Needs the desktop program.

    >>> import decoderscope as ds
    >>> made = ds.chat("verses", [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}], "names")
    >>> made.text
    ['user: Hi assistant: Ho']
    """
    program = shutil.which("decoderscope")
    if program is None:
        raise Problem("chat: expected the desktop program, decoderscope, on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "messages.json"
        written.write_text(json.dumps(messages))
        command = [program, "chat", str(model), "--messages", str(written), "--train-on", train_on, "--json"]
        if template is not None and ("{" in template or "\n" in template):
            (pathlib.Path(folder) / "template.jinja").write_text(template)
            template = str(pathlib.Path(folder) / "template.jinja")
        command += ["--chat-template", template] if template is not None else []
        command += ["--max-length", str(max_length)] if max_length is not None else []
        command += ["--template-variables", json.dumps(dict(variables))] if variables else []
        command += ["--generation-prompt"] if generation_prompt else []
        command += ["--special-tokens"] if special_tokens else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"the program ended with {done.returncode}"
            raise Problem("chat: " + said.removeprefix("decoderscope: ").replace(folder + "/", ""))
        return Chat(json.loads(done.stdout))
