"""The hand-ins of a class: learners × questions, and what each question shows about them. The desktop program judges each hand-in."""

from __future__ import annotations

import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional, Union

from .files import desktop_program, readable
from .overlay import Problem
from .roster import Pseudonyms, Roster

_MOST_JUDGED = 201  # answers to one question, as many as the program judges
_FEWEST_ALIKE = 3  # answers in the same second: two may be chance


class Answered(NamedTuple):
    """How a learner answered one question.

    answers    in their order: {"answer", "right", "reply"}
    at_first   whether the first one was right already
    tries      how many there were; as the file says, as hints
    complete   whether all of them are there: older files have the last one only, and tries and at_first are as they say, too
    """

    question: str
    ask: str
    answers: list[dict[str, Any]]
    right: bool
    at_first: bool
    tries: int
    hints: int
    complete: bool


@dataclass
class Handin:
    """A hand-in as it was judged.

    who        tells learners apart, also two of one name: by the roster, or by the seed
    enrolled   which one of the roster
    answers    by question, those of the learner's version in its order
    moments    what was answered in which second
    """

    file: str
    learner: str
    time: str
    seed: int
    round: int
    edited: bool
    remarks: list[str]
    answers: dict[str, Answered]
    moments: Counter[tuple[str, str, str]]
    who: str = ""
    enrolled: Optional[int] = None

    @property
    def right(self) -> int:
        return sum(one.right for one in self.answers.values())

    @property
    def at_first(self) -> int:
        return sum(one.at_first for one in self.answers.values())

    @property
    def name(self) -> str:
        return self.learner or "(no name)"


class Copies(NamedTuple):
    """A hand-in that is more alike an earlier one than two learners' are.

    same_seed      one file, or one computer
    same_seconds   how many answers are the same in the same second
    """

    one: Handin
    of: Handin
    same_seed: bool
    same_seconds: int


class Named(NamedTuple):
    """A file, and what is said of it."""

    file: str
    why: str


class Wrong(NamedTuple):
    """A wrong answer, the reply to it, and how many learners gave it, however often."""

    answer: str
    reply: str
    learners: int


@dataclass
class Question:
    """How a class answered one question. A version may lack it, so the numbers are of those who were asked.

    difficulty       the share whose first answer was right: 1 is easy
    discrimination   the correlation of a right first answer with the share of the version's other questions that were right at
                     first; None if all are alike
    wrong            the most frequent first
    """

    name: str
    asked: int = 0
    answered: int = 0
    right: int = 0
    at_first: int = 0
    difficulty: float = 0.0
    discrimination: Optional[float] = None
    wrong: list[Wrong] = field(default_factory=list)


class BeforeAndAfter(NamedTuple):
    """Learners who handed in twice or more, their first and their last time: the share of right first answers, on average.

    gain   (after - before) / (1 - before); None if there was nothing to gain
    """

    learners: int
    before: float
    after: float
    gain: Optional[float]


@dataclass
class LessonGrades:
    """All hand-ins for one lesson.

    questions     of all versions: the first one's, then what only others ask
    points        as many as the longest version has questions
    reliability   Cronbach's alpha of the first answers to what every learner was asked
    missing       of the roster
    """

    lesson: str
    title: str
    number: int
    language: str
    versions: list[list[str]]
    handins: list[Handin] = field(default_factory=list)  # by learner, then file
    questions: list[Question] = field(default_factory=list)
    points: int = 0
    reliability: Optional[float] = None
    twice: Optional[BeforeAndAfter] = None
    copies: list[Copies] = field(default_factory=list)
    replaced: list[Named] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)

    def points_of(self, handin: Handin) -> str:
        """Of the lesson's points, as many as the share of the learner's own version that is right: "3", "2.67"."""
        asked = len(handin.answers)
        if asked in (0, self.points):
            return str(handin.right)
        whole, rest = divmod(handin.right * self.points, asked)
        return f"{handin.right * self.points / asked:.2f}" if rest else str(whole)


@dataclass
class ClassGrades:
    lessons: list[LessonGrades] = field(default_factory=list)
    unreadable: list[Named] = field(default_factory=list)  # damaged, or of a lesson that isn't known
    foreign: list[Named] = field(default_factory=list)  # of another lesson than the one that was asked for


class ClassLine(NamedTuple):
    """A learner with the hand-in that counts for each lesson: the last round's. None: missing; without a roster, nobody's enrolled."""

    enrolled: Optional[int]
    learner: str
    handins: list[Optional[Handin]]


def grade_folder(folder: str, options: Sequence[str] = (), roster: Optional[Roster] = None,
                 pseudonyms: Optional[Pseudonyms] = None) -> ClassGrades:
    """All .json files of a folder and of the folders in it.

    options      of `decoderscope lessons judge`: --lesson, --language, --tries. Without --lesson, hand-ins for any of the program's
    roster       without it, the class is who handed in
    pseudonyms   instead of learners' names and of files'
    """
    if not os.path.isdir(folder):
        raise Problem(f"{folder}: expected a folder of hand-ins")
    command = [desktop_program(), "lessons", "judge", "--json", *options]
    paths = _files_in(folder)
    grades, by_lesson, files = ClassGrades(), dict[str, LessonGrades](), set[str]()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # a process each: whatever a file does, the others are graded
        judged = pool.map(lambda path: _judged(command, path, by_name="--lesson" in options), paths)
        for number, (path, made) in enumerate(zip(paths, judged), 1):
            file = f"file {number}" if pseudonyms is not None else readable(path.relative_to(folder).as_posix())
            if isinstance(made, str):
                grades.unreadable.append(Named(file, readable(made, 400)))
            elif "refused" in made:
                grades.foreign.append(Named(file, made["refused"]))
            else:
                of = by_lesson.setdefault(made["lesson"], LessonGrades(made["lesson"], made["title"], made["lesson_number"],
                                                                       made["language"], made["versions"]))
                of.handins.append(_handin(file, made, _moments_in(path)))
                _identify(of.handins[-1], roster)
                if pseudonyms is not None:
                    _hide_name(of.handins[-1], pseudonyms, files)
    for of in by_lesson.values():
        _keep_the_last(of)
        _name_namesakes(of)
        of.copies = _copies_in(of)
        if roster is not None:
            of.missing = sorted(set(range(len(roster.learners))) - {handin.enrolled for handin in of.handins if handin.enrolled is not None})
        _sum_up(of)
    grades.lessons = sorted(by_lesson.values(), key=lambda of: (of.number, of.lesson))
    return grades


def class_lines(grades: ClassGrades, roster: Optional[Roster]) -> list[ClassLine]:
    """All of the roster; without one, all who handed in."""
    lines: dict[Union[int, str], ClassLine] = {}
    if roster is not None:
        for number, one in enumerate(roster.learners):
            lines[number] = ClassLine(number, one.name, [None] * len(grades.lessons))
    for lesson, of in enumerate(grades.lessons):
        for handin in of.handins:
            if roster is not None and handin.enrolled is None:
                continue
            key: Union[int, str] = handin.who if handin.enrolled is None else handin.enrolled
            handins = lines.setdefault(key, ClassLine(None, handin.learner, [None] * len(grades.lessons))).handins
            known = handins[lesson]
            if known is None or known.round < handin.round:
                handins[lesson] = handin
    return list(lines.values())


# ---- what is in a folder


def _files_in(folder: str) -> list[pathlib.Path]:
    found = [pathlib.Path(where, name) for where, _, names in os.walk(folder) for name in names if _is_wanted(name)]
    return sorted(found, key=lambda path: path.parts)


def _is_wanted(name: str) -> bool:
    """ "._…" is what a Mac's archive adds to a file."""
    name = name.lower()
    return not name.startswith("._") and (name.endswith(".json") or name.startswith("decoderscope-"))


def _judged(command: Sequence[str], path: pathlib.Path, by_name: bool) -> Union[dict[str, Any], str]:
    """What the program makes of a file; why it can't be judged, if it can't."""
    done = subprocess.run([*command, os.path.abspath(path)], stdin=subprocess.DEVNULL, capture_output=True)
    if done.stdout:
        made: dict[str, Any] = json.loads(done.stdout.decode("utf-8", "replace"))
        if by_name or made["bundled"]:
            return made
        return f"handed in for {os.path.basename(made['lesson'])}, which isn't one of the program's lessons; name its file with --lesson"
    said = done.stderr.decode("utf-8", "replace").strip()
    if not said:
        return f"the program ended with {done.returncode}"
    said = said[len("decoderscope: "):] if said.startswith("decoderscope: ") else said
    # The program shows a path without the control characters that a terminal would obey.
    shown = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", os.fsencode(os.path.abspath(path)).decode("utf-8", "replace"))
    if done.returncode == 2 or not said.startswith(shown + ": "):
        raise Problem(said)  # it isn't this file that is wrong
    while said.startswith(shown + ": "):
        said = said[len(shown) + 2:]
    return said


def _handin(file: str, made: Mapping[str, Any], moments: Counter[tuple[str, str, str]]) -> Handin:
    answers = {one["name"]: Answered(one["name"], one["ask"], one["answers"], one["points"] == one["of"], one["first_right"],
                                     one["tries"], one["hints_said_by_file"], one["complete"]) for one in made["questions"]}
    return Handin(file, made["learner"], made["time"], made["seed"], made["round"], made["edited"], made["remarks"], answers, moments)


def _moments_in(path: pathlib.Path) -> Counter[tuple[str, str, str]]:
    """What was answered in which second, of a file that the program has read."""
    first: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(path.read_bytes().decode("utf-8-sig", "replace"))["answers"]:
        first.setdefault(one["question"], one.get("given", [])[:_MOST_JUDGED])
    return Counter((question, given["time"], json.dumps(given["answer"], sort_keys=True))
                   for question, all_given in first.items() for given in all_given if given["time"])


# ---- who handed in


def _identify(handin: Handin, roster: Optional[Roster]) -> None:
    handin.who = f"{handin.learner} · seed {handin.seed}" if handin.seed > 0 else handin.file
    if roster is None:
        return
    called = roster.called(handin.learner)
    if not called:
        handin.remarks.append("not on the roster")
    elif len(called) > 1:
        handin.remarks.append(f"{len(called)} on the roster go by this name; expected an id instead")
    else:
        handin.enrolled = called[0]
        handin.who = roster.learners[called[0]].id or roster.learners[called[0]].name


def _hide_name(handin: Handin, pseudonyms: Pseudonyms, files: set[str]) -> None:
    """The file of the same name as the learner: "learner-3f2a.json", or "learner-3f2a-2.json"."""
    handin.who = handin.learner = pseudonyms.of(handin.who)
    number = 1
    handin.file = handin.learner + ".json"
    while handin.file in files:
        number += 1
        handin.file = f"{handin.learner}-{number}.json"
    files.add(handin.file)


def _keep_the_last(grades: LessonGrades) -> None:
    """Of a learner's hand-ins of one round, the last one counts."""
    last: dict[tuple[str, int], Handin] = {}
    for handin in sorted(grades.handins, key=_moment):
        last[handin.who, handin.round] = handin
    for handin in grades.handins:
        if last[handin.who, handin.round] is not handin:
            grades.replaced.append(Named(handin.file, f"handed in again; {last[handin.who, handin.round].file} counts"))
    grades.handins = [handin for handin in grades.handins if last[handin.who, handin.round] is handin]


def _moment(handin: Handin) -> tuple[str, str]:
    return handin.time, handin.file


def _name_namesakes(grades: LessonGrades) -> None:
    """Two of one name are told apart by their seeds, unless a roster has only one."""
    seeds: dict[str, set[int]] = {}
    for handin in grades.handins:
        if handin.learner and handin.seed > 0:
            seeds.setdefault(handin.learner, set()).add(handin.seed)
    for handin in grades.handins:
        if len(seeds.get(handin.learner, ())) > 1:
            handin.remarks.append("another learner has this name, or the same one used another computer" if handin.enrolled is None else
                                  "another hand-in with this name has another seed: another computer, or another learner")


def _copies_in(grades: LessonGrades) -> list[Copies]:
    """Each one that is like another learner's is named with the earliest that it is most like."""
    found = []
    in_order = sorted(grades.handins, key=_moment)
    for number, one in enumerate(in_order):
        most: Optional[Copies] = None
        for before in in_order[:number]:
            if before.who == one.who:
                continue
            common = sum((one.moments & before.moments).values())
            alike = common >= _FEWEST_ALIKE and 2 * common >= min(sum(one.moments.values()), sum(before.moments.values()))
            copies = Copies(one, before, one.seed > 0 and one.seed == before.seed, common if alike else 0)
            if (copies.same_seed or alike) and (most is None or (copies.same_seconds, copies.same_seed) > (most.same_seconds, most.same_seed)):
                most = copies
        if most is not None:
            found.append(most)
    return found


# ---- what the hand-ins show of each question


def _sum_up(grades: LessonGrades) -> None:
    grades.handins.sort(key=lambda handin: (handin.learner, handin.round, handin.file))
    grades.points = max(map(len, grades.versions))
    grades.questions = [Question(name) for name in dict.fromkeys(name for version in grades.versions for name in version)]
    for question in grades.questions:
        asked = [(handin, handin.answers[question.name]) for handin in grades.handins if question.name in handin.answers]
        here = [float(answer.at_first) for _, answer in asked]
        elsewhere = [_share(handin.at_first - answer.at_first, len(handin.answers) - 1) for handin, answer in asked]
        question.asked = len(asked)
        question.answered = sum(bool(answer.answers) for _, answer in asked)
        question.right = sum(answer.right for _, answer in asked)
        question.at_first = sum(answer.at_first for _, answer in asked)
        question.difficulty = _mean(here)
        question.discrimination = _correlation(here, elsewhere)
        question.wrong = _wrong_answers(answer for _, answer in asked)
    grades.reliability = _cronbach_alpha(grades)
    grades.twice = _before_and_after(grades)


def _wrong_answers(answered: Iterable[Answered]) -> list[Wrong]:
    by_words: Counter[tuple[str, str]] = Counter()
    for one in answered:
        by_words.update({(answer["answer"], answer["reply"]) for answer in one.answers if not answer["right"]})
    return [Wrong(*words, count) for words, count in sorted(by_words.items(), key=lambda found: (-found[1], found[0]))]


def _cronbach_alpha(grades: LessonGrades) -> Optional[float]:
    names = [question.name for question in grades.questions if question.asked == len(grades.handins)]
    items = [[float(handin.answers[name].at_first) for handin in grades.handins] for name in names]
    total = _variance([sum(item[learner] for item in items) for learner in range(len(grades.handins))])
    if len(items) < 2 or total < 1e-12:
        return None
    return len(items) / (len(items) - 1) * (1 - sum(map(_variance, items)) / total)


def _before_and_after(grades: LessonGrades) -> Optional[BeforeAndAfter]:
    by_learner: dict[str, list[Handin]] = {}
    for handin in grades.handins:
        if handin.learner:
            by_learner.setdefault(handin.who, []).append(handin)
    before, after = [], []
    for handins in by_learner.values():
        handins.sort(key=lambda handin: handin.round)
        if handins[0].round < handins[-1].round:
            before.append(_share(handins[0].at_first, len(handins[0].answers)))
            after.append(_share(handins[-1].at_first, len(handins[-1].answers)))
    if not before:
        return None
    first, last = _mean(before), _mean(after)
    return BeforeAndAfter(len(before), first, last, (last - first) / (1 - first) if first < 1 else None)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return _mean([(value - mean) ** 2 for value in values])


def _correlation(a: Sequence[float], b: Sequence[float]) -> Optional[float]:
    spread = math.sqrt(_variance(a) * _variance(b))
    if spread < 1e-12:
        return None
    return (_mean([x * y for x, y in zip(a, b)]) - _mean(a) * _mean(b)) / spread
