"""Hand-ins as the program's "Hand in" writes them, and classes of learners who answer by dice: what tests grade."""

import json
import pathlib
import re
import sys

lessons = pathlib.Path(__file__).resolve().parents[2] / "assets" / "lessons"
_WORD = 2**64 - 1


# ---- what the program signs with: XXH64 with seed 0, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

_P1, _P2, _P3, _P4, _P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _turned(x, by):
    return (x << by | x >> (64 - by)) & _WORD


def _round(sum, lane):
    return _turned((sum + lane * _P2) & _WORD, 31) * _P1 & _WORD


def xxh64(data):
    at = 0
    if len(data) >= 32:
        sums = [(_P1 + _P2) & _WORD, _P2, 0, -_P1 & _WORD]
        while at + 32 <= len(data):
            sums = [_round(sum, int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little")) for i, sum in enumerate(sums)]
            at += 32
        hash = sum(_turned(one, by) for one, by in zip(sums, (1, 7, 12, 18))) & _WORD
        for one in sums:
            hash = ((hash ^ _round(0, one)) * _P1 + _P4) & _WORD
    else:
        hash = _P5
    hash = hash + len(data) & _WORD
    while at + 8 <= len(data):
        hash = (_turned(hash ^ _round(0, int.from_bytes(data[at:at + 8], "little")), 27) * _P1 + _P4) & _WORD
        at += 8
    if at + 4 <= len(data):
        hash = (_turned(hash ^ int.from_bytes(data[at:at + 4], "little") * _P1 & _WORD, 23) * _P2 + _P3) & _WORD
        at += 4
    for byte in data[at:]:
        hash = _turned(hash ^ byte * _P5 & _WORD, 11) * _P1 & _WORD
    hash = (hash ^ hash >> 33) * _P2 & _WORD
    hash = (hash ^ hash >> 29) * _P3 & _WORD
    return f"xxh64:{hash ^ hash >> 32:016x}"


def signed(file):
    """With the checksum of all else: a learner who can do this can forge a hand-in, which counts for what it says."""
    rest = {key: value for key, value in file.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**json.loads(json.dumps(rest)), "checksum": xxh64(text.encode("utf-8", "replace"))}  # a copy, to be edited


# ---- answers


def number(value):
    return {"kind": "number", "number": float(value)}


def choice(lesson, question, number):
    """With its words, as the program keeps it."""
    return {"kind": "choice", "choice": number, "says": choices(lesson, question)[number]}


def cell(step, *at):
    return {"kind": "point", "step": step, "cell": list(at)}


ACTION = {"kind": "run"}


def choices(lesson, question, file="lesson.md"):
    """What the choices of a question say, as the lesson's file has them, without emphasis."""
    text = (lessons / lesson / file).read_text(encoding="utf-8")
    block = text[text.index(f"\nid: {question}\n"):].partition("\n```")[0]
    return [re.sub(r"\*(.*?)\*", r"\1", line) for line in re.findall(r"^choice: (.*)$", block, re.MULTILINE)]


# ---- runs that the lessons' places open


def run(model, **typed):
    return {"edits": [], "format": "decoderscope-session", "model": {"bundled": model}, "pins": [], "set": {}, "tab": "step", "version": 1,
            "sampling": {"seed": 0, "temperature": 1.0, "top_k": 0, "top_p": 1.0}, **({"input": typed} if typed else {})}


BEGINNING = run("verses", text=["In the beginning"])
PADDED = run("causal-lm-as-meant")
MOUNTAIN = run("reverse", encoder_text=["mountain"], text=["niatnuom"])


# ---- files


def handin(lesson, answers, learner, seed, round=0, version=0, path=None, format=4):
    """What "Hand in" writes: a dict. `answers`: by question a list of (answer, run, time). `path`: of a lesson of one's own."""
    path = pathlib.Path(path) if path else lessons / lesson / "lesson.md"
    data = path.read_bytes()
    title = re.search(r"^# (.*)$", data.decode(), re.MULTILINE).group(1)
    runs = []
    for _, run, _ in (one for given in answers.values() for one in given):
        if run not in runs:
            runs.append(run)  # each is written once
    return signed({"format": "decoderscope-handin", "version": format, "learner": learner, "time": "2026-03-02T12:00:00Z", "seed": seed,
                   "round": round, "lesson": {"name": lesson or path.name, "title": title, "digest": xxh64(data), "version": version},
                   "answers": [{"question": question, "hints": 0,
                                "given": [{"answer": answer, "time": time, "run": runs.index(run)} for answer, run, time in given]}
                               for question, given in answers.items() if given],
                   "runs": runs})


def write(path, file):
    text = file if isinstance(file, (str, bytes)) else json.dumps(file, indent=1, ensure_ascii=False)
    pathlib.Path(path).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))


# ---- the lesson on masks: of its seven questions five with a right answer and a wrong one. Its text has 17 tokens: 153 cells of a
# triangle.


MASKS = {"kept": (number(153), number(289), BEGINNING),
         "leak": (choice("masks", "leak", 2), choice("masks", "leak", 0), BEGINNING),
         "both": (choice("masks", "both", 3), choice("masks", "both", 1), PADDED),
         "unhidden": (choice("masks", "unhidden", 0), choice("masks", "unhidden", 2), PADDED),
         "where": (choice("masks", "where", 1), choice("masks", "where", 3), PADDED)}


def of_masks(good, time=lambda second: "2026-03-01T10:00:00Z"):
    """A learner whose first `good` questions are right at once; the others after a wrong answer. `time`: of which answer."""
    answers, count = {}, 0
    for place, (question, (right, wrong, run)) in enumerate(MASKS.items()):
        given = [right] if place < good else [wrong, right]
        answers[question] = [(answer, run, time(count + i)) for i, answer in enumerate(given)]
        count += len(given)
    return answers


# ---- the class of docs/teaching.md: thirty hand-ins for the lesson `text`


class _Dice:
    """The program's random numbers (engine/base/random.h): SplitMix64 over a stream's name and an index."""

    def __init__(self, seed, stream):
        hash = 0xCBF29CE484222325
        for byte in stream.encode():
            hash = (hash ^ byte) * 0x100000001B3 & _WORD
        self._key = self._mixed(self._mixed(seed + 0x9E3779B97F4A7C15) ^ hash)

    @staticmethod
    def _mixed(z):
        z &= _WORD
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
        return z ^ z >> 31

    def uniform(self, index):
        return (self._mixed(self._key + (index + 1) * 0x9E3779B97F4A7C15) >> 11) * 2.0**-53


def _probs(pos, column):
    return cell("probs", 0, pos, column)


# By question: the right answer, the mistakes that learners make, and the share of learners who are right at first. "In the beginning" has
# 17 tokens with its mark; the rows of its probabilities have a column for each of 65.
_ITEMS = {"count": (number(19), [number(18), number(15), number(4)], 0.55),
          "case": (choice("text", "case", 2), [choice("text", "case", 1), choice("text", "case", 0)], 0.7),
          "clueless": (number(1 / 65), [number(1 / 26), number(1)], 0.6),
          "first-choice": (_probs(16, 3), [_probs(16, 45), _probs(15, 45)], 0.75),
          "shift": (choice("text", "shift", 1), [choice("text", "shift", 0), choice("text", "shift", 2)], 0.5),
          "loop": (choice("text", "loop", 3), [choice("text", "loop", number) for number in (0, 2, 1)], 0.65),
          "passes": (number(20), [number(37), number(1)], 0.6),
          "own": (ACTION, [ACTION], 0.4)}


def _classmate(name, able):
    """A learner who is as able as `able` says, from -0.4 to 0.4."""
    dice, clock = _Dice(28, name), _Dice(29, name)
    thrown, second, answers = 0, 0, {}
    for question, (right, mistakes, ease) in _ITEMS.items():
        thrown += 1
        if dice.uniform(thrown - 1) < 0.08 - 0.1 * able:
            continue  # skipped
        answers[question] = []
        chance = ease + able
        for _ in range(3):
            thrown += 1
            is_right = dice.uniform(thrown - 1) < chance
            if not is_right:
                thrown += 1
            answer = right if is_right else mistakes[int(dice.uniform(thrown - 1) * len(mistakes))]
            second += 20 + int(clock.uniform(thrown) * 40)
            typed = run("verses", text=["And the childr" if is_right else "The"])
            answers[question].append((answer, typed if answer is ACTION else BEGINNING,
                                      f"2026-03-02T09:{second // 60 % 60:02d}:{second % 60:02d}Z"))
            if is_right:
                break
            chance += 0.25
    return answers


def write_class_of_thirty(folder):
    """Twenty-four learners, one whose file was edited by hand, three damaged files, and two of another lesson."""
    names = ("Ada Ben Chen Dana Emil Fatma Gao Hanna Ivo Jana Kofi Lena Mei Nils Olga Pia Quang Rosa Sami Tao Uma Vera Wei Yara").split()
    folder = pathlib.Path(folder)
    for seed, name in enumerate(names):
        able = 0.8 * (seed * 7 % len(names) / (len(names) - 1) - 0.5)
        whole = handin("text", _classmate(name, able), name, seed + 1)
        write(folder / f"decoderscope-text-{name}.json", whole)
    edited = handin("text", _classmate("Xenia", -0.3), "Xenia", len(names) + 1)
    for answer in edited["answers"]:  # wrong answers are taken out
        if answer["question"] == "clueless":
            answer["given"] = answer["given"][-1:]
    write(folder / "edited.json", edited)
    text = json.dumps(whole, indent=1) + "\n"
    write(folder / "damaged-1.json", text[:len(text) // 2])
    write(folder / "damaged-2.json", "")
    write(folder / "damaged-3.json", '{"format": "decoderscope-handin", "version": 2}')
    for seed, name in enumerate(("other-1", "other-2"), len(names) + 2):
        write(folder / f"{name}.json", handin("weight", {"largest": [(number(0.95), MOUNTAIN, "2026-03-02T09:15:00Z")]}, name, seed))


if __name__ == "__main__":  # to look at it: python3 handins.py FOLDER
    pathlib.Path(sys.argv[1]).mkdir(exist_ok=True)
    write_class_of_thirty(sys.argv[1])
