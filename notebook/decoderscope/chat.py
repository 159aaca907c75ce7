"""From messages to labels: what a chat template makes of them, and what is trained.

    python3 -m decoderscope chat FOLDER messages.json --out laid.json

writes what the desktop program and the page read by `--messages laid.json` and on the page Messages.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Optional, Union

from .overlay import Problem

if TYPE_CHECKING:
    from .templates import ChatTemplate, Rendered

TRAINED = ("answers", "last-answer", "everything")

# The program has these as a table of prefixes and suffixes: assets/tables/chat_templates.json.
FORMATS = {
    "names": "{% for message in messages %}{{ message.role }}: {{ message.content }}{% if not loop.last %} {% endif %}{% endfor %}"
             "{% if add_generation_prompt %} assistant:{% endif %}",
    "chatml": "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "headers": "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n"
               "{{ message.content | trim }}<|eot_id|>{% endfor %}"
               "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    "inst": "{{ bos_token }}{% for message in messages %}{% if message.role == 'user' %}[INST] {{ message.content }} [/INST]"
            "{% elif message.role == 'assistant' %} {{ message.content }}{{ eos_token }}{% else %}"
            "{{ raise_exception('only user and assistant can speak here, not ' + message.role) }}{% endif %}{% endfor %}",
    "turns": "{{ bos_token }}{% for message in messages %}<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}\n"
             "{{ message.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}",
}

_Conversation = list[dict[str, Any]]


class Chat:
    """Messages as a chat template lays them out. Its lists are by row, then by position.

    text        what the template wrote
    spans       which of its characters are whose text: (begin, end, number of the message)
    tokens      ids; none if neither the tokenizers package nor the desktop program is there to cut the text
    labels      the same ids, or -100 where a position is not trained
    roles       of the message that a token belongs to; "" for what the template adds on its own
    losses      -ln of the probability that the model gave a trained token; None elsewhere
    findings    what is right and wrong, a sentence each; wrong: those alone that are wrong
    made        all of it as `python3 -m decoderscope chat` writes it to a file
    """

    def __init__(self, made: Mapping[str, Any]):
        rows = made["conversations"]
        self.made = made
        self.text: list[str] = [row["text"] for row in rows]
        self.spans: list[list[tuple[int, int, int]]] = [[(begin, end, number) for begin, end, number in row["spans"]] for row in rows]
        self.tokens: list[list[int]] = [row.get("tokens", []) for row in rows]
        self.labels: list[list[int]] = [row.get("labels", []) for row in rows]
        self.roles: list[list[str]] = [["" if number < 0 else row["roles"][number] for number in row.get("token_messages", [])]
                                       for row in rows]
        self.losses: list[list[Optional[float]]] = [row.get("losses", [None] * len(row.get("tokens", []))) for row in rows]
        findings = _without_copies([finding for row in rows for finding in row["findings"]])
        self.findings: list[str] = [finding["what"] for finding in findings]
        self.wrong: list[str] = [finding["what"] for finding in findings if finding["wrong"]]
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

    Problem says what is wrong with the template, the messages or the model. Needs jinja2. The losses, and the tokens where
    the tokenizers package isn't installed, are the desktop program's.

    >>> import decoderscope as ds
    >>> made = ds.chat("verses", [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}], "names")
    >>> made.text
    ['user: Hi assistant: Ho']
    >>> made.spans
    [[(6, 8, 0), (20, 22, 1)]]
    """
    try:
        conversations = _conversations(messages)
        program = shutil.which("decoderscope")
        if program is not None and template in FORMATS and not pathlib.Path(model).exists():
            # A bundled model's special tokens are known to the program alone.
            given = {"conversations": [{"messages": one, "roles": [message["role"] for message in one]} for one in conversations]}
            options = ["--chat-template", str(template), "--train-on", train_on]
            options += ["--max-length", str(max_length)] if max_length is not None else []
            options += ["--generation-prompt"] if generation_prompt else []
            options += ["--special-tokens"] if special_tokens else []
            return Chat(_run(program, str(model), given, [one["messages"] for one in given["conversations"]], options))
        made = lay_out(model, conversations, template, train_on=train_on, max_length=max_length, special_tokens=special_tokens,
                       generation_prompt=generation_prompt, variables=variables)
        return Chat(made if program is None else _run(program, str(model), made, made))
    except Problem as problem:
        raise Problem(f"chat: {problem}") from None


# ---- messages

def _conversations(given: Any) -> list[_Conversation]:
    """A list of messages, an object with "messages", or several of either."""
    several = isinstance(given, list) and given and (isinstance(given[0], list) or (isinstance(given[0], dict) and "messages" in given[0]))
    return [_checked(one, number) for number, one in enumerate(given if several else [given])]


def _checked(given: Any, row: int) -> _Conversation:
    messages = given["messages"] if isinstance(given, dict) and "messages" in given else given
    if not isinstance(messages, list) or not messages:
        raise Problem(f"conversation {row + 1}: expected a list of messages, or an object with \"messages\"")
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Problem(f"conversation {row + 1}, message {number + 1}: expected an object with \"role\", a text, and \"content\"")
    return messages


def _read(path: str) -> list[_Conversation]:
    """A file of one JSON value, or of one conversation per line."""
    text = _text_of(pathlib.Path(path))
    try:
        try:
            given = json.loads(text)
        except json.JSONDecodeError:
            lines = [line for line in text.splitlines() if line.strip()]
            if len(lines) < 2:
                raise
            given = [json.loads(line) for line in lines]
        return _conversations(given)
    except json.JSONDecodeError as error:
        raise Problem(f"{path}: not valid JSON at line {error.lineno}, expected a list of messages, or one conversation per line") from None
    except RecursionError:
        raise Problem(f"{path}: JSON nested too deep, expected a list of messages, or one conversation per line") from None
    except Problem as problem:
        raise Problem(f"{path}: {problem}") from None


def _text_of(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as refused:
        why = refused.strerror if isinstance(refused, OSError) else "not UTF-8"
        raise Problem(f"{path}: cannot be read: {why}; expected a text file") from None


# ---- where templates come from

def templates_of(model: Union[str, pathlib.Path]) -> tuple[dict[str, str], dict[str, str]]:
    """A checkpoint's templates by name, the default first, and the texts of bos_token, eos_token …"""
    path = pathlib.Path(model)
    if path.suffix == ".gguf" and path.is_file():
        return _templates_in_gguf(path), {}
    folder = path if path.is_dir() else path.parent
    if not path.exists():
        return {}, {}
    found: dict[str, str] = {}
    special: dict[str, str] = {}
    if (folder / "chat_template.jinja").exists():
        found["default"] = _text_of(folder / "chat_template.jinja")
    for file in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        found[file.stem] = _text_of(file)
    for name in ("chat_template.json", "tokenizer_config.json", "special_tokens_map.json"):
        stored = _object_in(folder / name)
        # Tokens of one model's own: Transformers 4 and 5 have their names in an object, 5 may have a list without names.
        groups = [stored.get(group) for group in ("extra_special_tokens", "model_specific_special_tokens")]
        own = {key: value for group in groups if isinstance(group, dict) for key, value in group.items()}
        for key, value in {**own, **stored}.items():
            text = value.get("content") if isinstance(value, dict) else value
            if key.endswith("_token") and not key.startswith("add_") and isinstance(text, str):
                special.setdefault(key, text)
        given = stored.get("chat_template")
        for one in given if isinstance(given, list) else [] if given is None else [{"name": "default", "template": given}]:
            source = one.get("template") if isinstance(one, dict) else None
            if not isinstance(source, str):
                raise Problem(f"{folder / name}: chat_template: expected a text, or a list of objects with \"name\" and \"template\"")
            found.setdefault(str(one.get("name", "default")), source)
    return dict(sorted(found.items(), key=lambda one: one[0] != "default")), special


def _object_in(path: pathlib.Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        stored = json.loads(_text_of(path))
    except ValueError:
        stored = None
    if not isinstance(stored, dict):
        raise Problem(f"{path}: expected a JSON object")
    return stored


def _templates_in_gguf(path: pathlib.Path) -> dict[str, str]:
    """A GGUF file's own: "tokenizer.chat_template", and others as "tokenizer.chat_template.tool_use"."""
    found = {}
    try:
        with open(path, "rb") as file:
            magic, version, _, count = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version not in (2, 3):
                raise Problem(f"{path}: expected a GGUF file of version 2 or 3")
            for _ in range(count):
                key = _gguf_text(file)
                (kind,) = struct.unpack("<I", file.read(4))
                value = _gguf_value(file, kind)
                if isinstance(value, str) and (key + ".").startswith("tokenizer.chat_template."):
                    found[key[len("tokenizer.chat_template."):] or "default"] = value
    except (OSError, struct.error, UnicodeDecodeError, KeyError, OverflowError, MemoryError):
        raise Problem(f"{path}: cannot be read, expected a GGUF file") from None
    return dict(sorted(found.items(), key=lambda one: one[0] != "default"))


def _gguf_text(file: IO[bytes]) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8")


def _gguf_value(file: IO[bytes], kind: int) -> Any:
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    if kind == 8:
        return _gguf_text(file)
    if kind != 9:
        return file.read(sizes[kind])
    inner, length = struct.unpack("<IQ", file.read(12))
    if inner in sizes:
        file.seek(sizes[inner] * length, os.SEEK_CUR)
    for _ in range(0 if inner in sizes else length):
        _gguf_value(file, inner)
    return None


def _chosen(model: Union[str, pathlib.Path], wanted: Optional[str]) -> tuple[str, str, dict[str, str]]:
    """A template's name and source, and the special tokens."""
    found, special = templates_of(model)
    known = {**FORMATS, **found}
    if wanted is None:
        wanted = next(iter(found), "names")
    elif wanted not in known and ("{" in wanted or "\n" in wanted):
        return "template.jinja", wanted, special
    elif wanted not in known and os.path.isfile(wanted):
        return wanted, _text_of(pathlib.Path(wanted)), special
    if wanted not in known:
        raise Problem(f"chat template \"{wanted}\": expected a file, or one of {', '.join([*found, *FORMATS])}")
    return wanted, known[wanted], special


# ---- laid out

def lay_out(model: Union[str, pathlib.Path], conversations: Sequence[_Conversation], template: Optional[str] = None, *,
            train_on: str = "answers", max_length: Optional[int] = None, generation_prompt: bool = False, special_tokens: bool = False,
            variables: Optional[Mapping[str, Any]] = None, date: Optional[str] = None, text_only: bool = False) -> dict[str, Any]:
    """What `python3 -m decoderscope chat` writes, and the program reads by --messages: JSON, by Python alone."""
    if train_on not in TRAINED:
        raise Problem(f"train_on: {train_on}, expected one of {', '.join(TRAINED)}")
    try:
        from .templates import ChatTemplate
    except ImportError:
        raise Problem("jinja2 runs chat templates, and isn't installed here; expected it: pip install jinja2") from None
    name, source, special = _chosen(model, template)
    try:
        laid_by = ChatTemplate(source, date)
        given: dict[str, Any] = {"tools": None, "documents": None, **special, **(variables or {}),
                                 "add_generation_prompt": generation_prompt}
        rendered = [laid_by.render(messages, **given) for messages in conversations]
    except Problem as problem:
        raise Problem(f"{name}: {problem}" if name not in FORMATS else str(problem)) from None
    rows = [_row(messages, one, laid_by) for messages, one in zip(conversations, rendered)]
    findings = [_Finding(f"The template leaves out message {number + 1} of conversation {row + 1}, which is by {role}.", True, row)
                for row, messages in enumerate(conversations) for number, role in _dropped(messages, rows[row])]
    cutter = None if text_only else _Cutter.of(model, special)
    made: dict[str, Any] = {"template": name, "train_on": train_on}
    if cutter is None:  # whoever reads it cuts the text
        if max_length is not None:
            made["max_length"] = max_length
        if special_tokens:
            made["special_tokens"] = True
    else:
        for row in rows:
            cutter.cut(row, special_tokens)
            _train(row, train_on, laid_by.marks_generation, cutter)
        findings += _token_findings(rows, cutter, special_tokens, max_length)
    if train_on != "everything":
        findings.append(_Finding("The template says itself what is trained, by {% generation %}." if laid_by.marks_generation else
                                 "The template does not say what is trained. Taken are the answers' own texts, each with the special "
                                 "token that ends it."))
    date_told = next((one.date for one in rendered if one.date), None)
    if date_told:
        made["date"] = date_told
        findings.append(_Finding(f"The template asks for the date, which is taken as {date_told}."))
    findings.sort(key=lambda finding: not finding.wrong)
    for number, row in enumerate(rows):
        row["findings"] = [{"wrong": finding.wrong, "what": finding.what} for finding in findings if finding.row in (None, number)]
    return {**made, "conversations": rows}


class _Finding(NamedTuple):
    what: str
    wrong: bool = False
    row: Optional[int] = None  # None: of all


def _without_copies(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = list({finding["what"]: finding for finding in findings}.values())
    return sorted(kept, key=lambda finding: not finding["wrong"])


def _row(messages: _Conversation, rendered: Rendered, by: ChatTemplate) -> dict[str, Any]:
    if not rendered.text:
        raise Problem("the template writes nothing")
    row: dict[str, Any] = {
        "messages": messages, "text": rendered.text, "roles": [message["role"] for message in messages],
        "spans": [[run.begin, run.end, run.origin.message] for run in rendered.runs if run.origin.content],
        "around": [[run.begin, run.end, run.origin.message] for run in rendered.runs if not run.origin.content and run.origin.message >= 0]}
    if by.marks_generation:
        row["generated"] = [[run.begin, run.end] for run in rendered.runs if run.origin.generated]
    return row


def _dropped(messages: _Conversation, row: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """The messages of which no character was written, though they have a text."""
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, str) and content.strip(" \t\n\r") and all(span[2] != number for span in row["spans"]):
            yield number, message["role"]


# ---- tokens and labels, where the tokenizers package is installed; the program has the same rules (engine/chat/laid_out.cpp)

class _Cutter:
    """A checkpoint's tokenizer."""

    def __init__(self, tokenizer: Any, ends: set[int]):
        self._tokenizer = tokenizer
        before = tokenizer.encode("").ids
        self.beginning: Optional[int] = before[0] if before else None
        self.ends = ends
        self.special = ends | set(tokenizer.get_added_tokens_decoder())

    @staticmethod
    def of(model: Union[str, pathlib.Path], special: Mapping[str, str]) -> Optional[_Cutter]:
        folder = pathlib.Path(model)
        folder = folder if folder.is_dir() else folder.parent
        if not pathlib.Path(model).exists() or not (folder / "tokenizer.json").exists():
            return None
        try:
            from tokenizers import Tokenizer
        except ImportError:
            return None
        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as refused:  # the package throws nothing narrower
            raise Problem(f"{folder / 'tokenizer.json'}: {refused}") from None
        ends: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            given = _object_in(folder / name).get("eos_token_id")
            ends |= {one for one in (given if isinstance(given, list) else [given]) if isinstance(one, int)}
        named = tokenizer.token_to_id(special["eos_token"]) if "eos_token" in special else None
        return _Cutter(tokenizer, ends | ({named} if named is not None else set()))

    def piece(self, token: int) -> str:
        return str(self._tokenizer.id_to_token(token))

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def cut(self, row: dict[str, Any], special_tokens: bool) -> None:
        encoded = self._tokenizer.encode(row["text"], add_special_tokens=special_tokens)
        owners = [(-1, False, False)] * len(row["text"])
        for key, content in (("around", False), ("spans", True)):
            for begin, end, number in row[key]:
                owners[begin:end] = [(number, content, False)] * (end - begin)
        for begin, end in row.get("generated", []):
            owners[begin:end] = [(number, content, True) for number, content, _ in owners[begin:end]]
        row["tokens"], row["token_messages"], row["_content"], row["_generated"] = list(encoded.ids), [], [], []
        for begin, end in encoded.offsets:
            own = owners[begin:end] or [(-1, False, False)]  # nothing: the tokenizer's own
            number, content, _ = next((owner for owner in own if owner[1]), own[0])  # one with a character of content is the message's
            row["token_messages"].append(number)
            row["_content"].append(content)
            row["_generated"].append(any(owner[2] for owner in own))


def _train(row: dict[str, Any], train_on: str, marked: bool, cutter: _Cutter) -> None:
    tokens, numbers, content, generated = row["tokens"], row["token_messages"], row.pop("_content"), row.pop("_generated")
    trained = [train_on == "everything"] * len(tokens)
    answers = [number for number, role in enumerate(row["roles"]) if role in ("assistant", "model")]
    for answer in answers[-1:] if train_on == "last-answer" else [] if train_on == "everything" else answers:
        if marked:
            trained = [was or (generated[i] and numbers[i] == answer) for i, was in enumerate(trained)]
            continue
        own = [i for i in range(len(tokens)) if numbers[i] == answer and content[i]]
        if not own:
            continue
        for i in range(own[0], own[-1] + 1):
            trained[i] = numbers[i] in (answer, -1)
        # With the special token that ends it.
        for i in range(own[-1] + 1, len(tokens)):
            if numbers[i] not in (answer, -1):
                break
            if tokens[i] in cutter.special:
                trained[own[-1] + 1:i + 1] = [True] * (i - own[-1])
                break
    row["labels"] = [token if is_trained else -100 for token, is_trained in zip(tokens, trained)]


def _token_findings(rows: Sequence[dict[str, Any]], cutter: _Cutter, special_tokens: bool, max_length: Optional[int]) -> list[_Finding]:
    found: list[_Finding] = []
    for number, row in enumerate(rows):
        if max_length is not None and len(row["tokens"]) > max(max_length, 1):
            cut = len(row["tokens"]) - max(max_length, 1)
            lost = sum(label != -100 for label in row["labels"][-cut:])
            for key in ("tokens", "token_messages", "labels"):
                del row[key][-cut:]
            found.append(_Finding(f"1 token of conversation {number + 1} is cut off at the end; to be trained was {lost}." if cut == 1 else
                                  f"{cut} tokens of conversation {number + 1} are cut off at the end; {lost} of them were to be trained.",
                                  lost > 0, number))
    untrained = [number for number, row in enumerate(rows) if all(label == -100 for label in row["labels"][1:])]
    found += [_Finding(f"Nothing is trained in conversation {number + 1}: all its labels are −100.", True, number) for number in untrained]
    if len(untrained) < len(rows) and not any(label in cutter.ends for row in rows for label in row["labels"][1:]):
        end = min(cutter.ends, default=None)
        found.append(_Finding("The vocabulary names no token that ends a text, so that it can't be said whether the model learns to stop."
                              if end is None else f"The token that ends a text, {cutter.piece(end)}, is never trained: the model will not "
                              "learn to stop.", end is not None))
    if cutter.beginning is not None:
        token = cutter.piece(cutter.beginning)
        for row in rows:
            begins = [one == cutter.beginning for one in row["tokens"][:2]]
            if all(begins) and len(begins) == 2:
                found.append(_Finding(f"The text begins with {token} twice: the template writes it, and the tokenizer adds it again.", True))
            elif begins[0] and not special_tokens:
                found.append(_Finding(f"The template writes {token} itself: a tokenizer that is asked for special tokens would add a "
                                      "second one."))
            elif not begins[0]:
                found.append(_Finding(f"The text does not begin with {token}, as the model's texts otherwise do."))
            else:
                continue
            break
    # "<|im_end|>" or "[INST]", as the template wrote it.
    for marker in dict.fromkeys(marker for row in rows for begin, end in _between(row) for marker in
                                re.findall(r"[<\[][^<\[\s>\]]+[>\]]", row["text"][begin:end])):
        if cutter.count(marker) > 1:
            found.append(_Finding(f"{marker} is no token of this vocabulary: it is cut into {cutter.count(marker)} pieces, as any other "
                                  "text is."))
    return found


def _between(row: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Where the template's own text stands."""
    place = 0
    for begin, end, _ in [*row["spans"], [len(row["text"]), len(row["text"]), -1]]:
        yield place, begin
        place = end


# ---- what the program adds

def _run(program: str, model: str, made: dict[str, Any], messages: Any, options: Sequence[str] = ()) -> dict[str, Any]:
    """With tokens, labels and losses from the program's run on the messages, which may be laid out."""
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "messages.json"
        written.write_text(json.dumps(messages), encoding="utf-8")
        done = subprocess.run([program, "chat", model, "--messages", str(written), *options, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"the program ended with {done.returncode}"
            raise Problem(said.removeprefix("decoderscope: ").replace(folder + "/", ""))
        run = json.loads(done.stdout)
    for row, of_run in zip(made["conversations"], run["rows"]):
        tokens = of_run["tokens"]
        row["text"], row["spans"] = of_run["text"], of_run["spans"]
        row["tokens"] = [token["token"] for token in tokens]
        row["labels"] = [token["label"] for token in tokens]
        row["token_messages"] = [token["message"] for token in tokens]
        row["losses"] = [token.get("loss") for token in tokens]
        row["findings"] = _without_copies([*row.get("findings", []), *run["findings"]])
    return {**made, **({"loss": run["loss"]} if "loss" in run else {})}


# ---- the command

def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("chat", help="lay messages out by a checkpoint's chat template, for the program's --messages and page Messages")
    command.add_argument("model", metavar="MODEL_FOLDER", help="a checkpoint's folder, or a GGUF file")
    command.add_argument("messages", metavar="MESSAGES", help="JSON: messages, {\"role\", \"content\"}, or conversations, also one per line")
    command.add_argument("--template", metavar="NAME|FILE",
                         help=f"one of the checkpoint's, a file in Jinja, or one of {', '.join(FORMATS)} (the checkpoint's default)")
    command.add_argument("--train-on", choices=TRAINED, default="answers", help="which tokens have labels (answers)")
    command.add_argument("--variables", metavar="JSON", help="an object that the template is given besides: {\"tools\": […]}")
    command.add_argument("--max-length", type=_length, metavar="N", help="cuts off the tokens beyond this number")
    command.add_argument("--generation-prompt", action="store_true", help="ends with the beginning of an answer")
    command.add_argument("--special-tokens", action="store_true", help="the tokenizer adds its own tokens around the text")
    command.add_argument("--date", help="for templates that ask for it: 2026-11-27 (today)")
    command.add_argument("--text-only", action="store_true", help="leaves tokens and labels out: whoever reads the file cuts the text")
    command.add_argument("--losses", action="store_true", help="runs the model by the desktop program, for the loss of each trained token")
    command.add_argument("--out", required=True, metavar="FILE", help="the JSON that is written")
    command.set_defaults(work=_chat)


def _length(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 24:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number from 1 to {1 << 24}")
    return int(text)


def _chat(wanted: argparse.Namespace) -> int:
    try:
        variables = json.loads(wanted.variables) if wanted.variables else {}
    except ValueError:
        variables = None
    if not isinstance(variables, dict):
        raise Problem("--variables: expected a JSON object")
    if not pathlib.Path(wanted.model).exists():
        raise Problem(f"{wanted.model}: there is no such folder; expected a checkpoint's, or a GGUF file")
    made = lay_out(wanted.model, _read(wanted.messages), wanted.template, train_on=wanted.train_on, max_length=wanted.max_length,
                   generation_prompt=wanted.generation_prompt, special_tokens=wanted.special_tokens, variables=variables, date=wanted.date,
                   text_only=wanted.text_only)
    if wanted.losses:
        program = shutil.which("decoderscope")
        if program is None:
            raise Problem("--losses: the desktop program isn't installed; expected decoderscope in the PATH")
        made = _run(program, wanted.model, made, made)
    path = pathlib.Path(wanted.out)
    new = path.with_name(path.name + ".new")
    try:
        new.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        os.replace(new, path)
    except OSError as refused:
        raise Problem(f"--out: {path}: {refused.strerror}; expected a file that can be written") from None
    return 0
