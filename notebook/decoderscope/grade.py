"""python -m decoderscope grade: judges the hand-ins of a class, and tells its grades as a table, CSV, JSON and pages."""

from __future__ import annotations

import argparse
import html
import json
import os
import pathlib
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from .files import in_file_name, write_whole
from .gradebook import canvas_gradebook, moodle_gradebook
from .grades import Answered, ClassGrades, Handin, LessonGrades, Named, grade_folder
from .overlay import Problem
from .roster import Pseudonyms, Roster, csv_field, read_roster


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("grade", help="judge the hand-ins of a class: learners by questions",
                                  description="Judges the hand-ins of a class: learners by questions. Status 1 where one could not be read.")
    command.add_argument("folder", metavar="FOLDER", help="where the hand-ins are (.json), in folders of their own or not")
    command.add_argument("--lesson", metavar="FILE", help="judge only hand-ins for this lesson: its name or its file")
    command.add_argument("--csv", metavar="FILE", help="also write the points to this file, one line per hand-in")
    command.add_argument("--language", help="of --lesson: zh_CN, for example")
    command.add_argument("--tries", type=whole_tries, metavar="N", help="how many answers to a question count; 1: the first. Without it, all")
    command.add_argument("--roster", metavar="FILE", help="who is in the class: a CSV file with columns such as id, name, section")
    command.add_argument("--canvas", metavar="FILE", help="also write a column per lesson for Canvas' gradebook")
    command.add_argument("--moodle", metavar="FILE", help="also write a column per lesson for Moodle's grade import")
    command.add_argument("--pseudonyms", metavar="FILE", help="print pseudonyms instead of names; this file keeps whose they are")
    command.add_argument("--feedback", metavar="FOLDER", help="also write a page for each learner to this folder")
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(work=_grade, fail=command.error)


def whole_tries(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text}, expected a whole number from 1 to 1000")
    return int(text)


def _grade(wanted: argparse.Namespace) -> int:
    """Whatever can't be read, the others are graded; then the command fails."""
    for other in ("canvas", "moodle", "roster"):
        if wanted.pseudonyms and getattr(wanted, other):
            wanted.fail(f"--pseudonyms excludes --{other}")
    options = [part for name in ("lesson", "language", "tries") if getattr(wanted, name) for part in (f"--{name}", str(getattr(wanted, name)))]
    roster = read_roster(wanted.roster) if wanted.roster else None
    pseudonyms = Pseudonyms(wanted.pseudonyms) if wanted.pseudonyms else None
    grades = grade_folder(wanted.folder, options, roster, pseudonyms)
    if pseudonyms is not None:
        write_whole(pseudonyms.path, pseudonyms.text())
    moodle = moodle_gradebook(grades, roster)
    if wanted.csv:
        write_whole(wanted.csv, csv_of(grades))
    if wanted.canvas:
        write_whole(wanted.canvas, _csv(canvas_gradebook(grades, roster).records))
    if wanted.moodle:
        write_whole(wanted.moodle, _csv(moodle.records))
    if wanted.feedback:
        write_feedback(wanted.feedback, grades)
    _print(json_of(grades, roster) if wanted.json else table_of(grades, roster))
    if wanted.moodle and moodle.left_out:
        raise Problem(f"{wanted.moodle}: without {', '.join(moodle.left_out)}, of whom there is no id; expected one of each learner, "
                      "since Moodle gives the points of a line without an id to the learner of the line before")
    unread = len(grades.unreadable)
    if unread:
        raise Problem(f"{wanted.folder}: {unread} {'hand-in' if unread == 1 else 'hand-ins'} could not be read; expected none")
    return 0


def _print(text: str) -> None:
    """As UTF-8, whatever a system's encoding is: marks and names are in no other."""
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except OSError as refused:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would be tried again
        raise Problem(f"standard output: cannot be written: {refused.strerror}") from None


# ---- a table


def table_of(grades: ClassGrades, roster: Optional[Roster] = None) -> str:
    return "\n".join([line for of in grades.lessons for line in _lesson(of, roster)]
                     + ([] if grades.lessons else ["no hand-in that could be graded"])
                     + _files("Of another lesson:", grades.foreign) + _files("Not read:", grades.unreadable)) + "\n"


def _lesson(of: LessonGrades, roster: Optional[Roster]) -> Iterator[str]:
    reliability = "" if of.reliability is None else f", reliability (Cronbach's alpha) {of.reliability:.2f}"
    yield f"{of.lesson}  {of.title}: {_counted(len(of.handins), 'hand-in')}, {of.points} questions{reliability}"
    yield ("  (✓ right at the first answer, ✓3 at the third, ✗ wrong, · not answered"
           + (", – not asked in this version" if len(of.versions) > 1 else "") + ")")
    if of.twice is not None:
        gain = "" if of.twice.gain is None else f", gain {of.twice.gain:.2f}"
        yield (f"  before and after, {_counted(of.twice.learners, 'learner')}: {of.twice.before:.2f} and {of.twice.after:.2f} "
               f"right at the first answer{gain}")
    names = [question.name for question in of.questions]
    widths = [max(map(_columns, ["learner", *[one.name for one in of.handins]])), max(map(_columns, ["file", *[one.file for one in of.handins]])),
              len("right"), *map(_columns, names)]
    for line in [["learner", "file", "right", *names],
                 *[[one.name, one.file, str(one.right), *[_mark(one.answers.get(name)) for name in names]] for one in of.handins]]:
        yield "  " + "  ".join(_filled(text, width) for text, width in zip(line, widths)).rstrip()
    yield ""
    for question in of.questions:
        discrimination = "none" if question.discrimination is None else f"{question.discrimination:.2f}"
        yield (f"  {question.name}: {question.right} of {question.asked} right, {question.at_first} at the first answer; "
               f"difficulty {question.difficulty:.2f}, discrimination {discrimination}")
        for wrong in question.wrong:
            yield f"    {wrong.learners} × {wrong.answer}" + (f"  → {wrong.reply}" if wrong.reply else "")
    yield ""
    yield from _files("Edited since they were handed in, and judged as they are now:",
                      [Named(one.file, one.name) for one in of.handins if one.edited])
    yield from _files("Alike:", [Named(copies.one.file, f"{copies.one.learner}, as {copies.of.learner} in {copies.of.file}: "
                                       + ", and ".join((["the same seed (one file, or one computer)"] if copies.same_seed else [])
                                                       + ([f"{copies.same_seconds} answers that are the same in the same second"]
                                                          if copies.same_seconds else []))) for copies in of.copies])
    yield from _files("To look at:", [Named(one.file, f"{one.name}: {remark}") for one in of.handins for remark in one.remarks])
    yield from _files("Replaced:", of.replaced)
    if roster is not None and of.missing:
        yield f"Missing, {len(of.missing)} of {len(roster.learners)}:"
        yield from (f"  {roster.learners[number]}" for number in of.missing)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _mark(answered: Optional[Answered]) -> str:
    if answered is None:
        return "–"
    if not answered.answers:
        return "·"
    return "✗" if not answered.right else "✓" if answered.at_first else f"✓{answered.tries}"


def _columns(text: str) -> int:
    """How wide a text is in a terminal: Chinese characters take two columns."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text)


def _filled(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _files(title: str, files: Sequence[Named]) -> list[str]:
    return [title, *[f"  {one.file}: {one.why}" for one in files]] if files else []


# ---- CSV and JSON


def csv_of(grades: ClassGrades) -> str:
    """A line a hand-in: learning platforms find a learner by the first column and import the second. 1, 0 or, for what wasn't
    answered, nothing for each question."""
    several = len(grades.lessons) > 1
    columns = [(of, question.name) for of in grades.lessons for question in of.questions]
    records = [["id", "points", "of", "lesson", "time", "file", *[f"{of.lesson}.{name}" if several else name for of, name in columns]]]
    for of in grades.lessons:
        for handin in of.handins:
            def point(other: LessonGrades, name: str, of: LessonGrades = of, handin: Handin = handin) -> str:
                answered = handin.answers.get(name) if other is of else None
                return "" if answered is None or not answered.answers else str(int(answered.right))

            records.append([handin.learner, of.points_of(handin), str(of.points), of.lesson, handin.time, handin.file,
                            *[point(other, name) for other, name in columns]])
    return _csv(records)


def _csv(records: Sequence[Sequence[str]]) -> str:
    """A field that begins like a formula is made a text, as spreadsheets read it."""
    return "".join(",".join(csv_field("'" + field if field[:1] in tuple("=+-@\t\r") else field) for field in record) + "\n" for record in records)


def json_of(grades: ClassGrades, roster: Optional[Roster] = None) -> str:
    return json.dumps({"lessons": [_json_of_lesson(of, roster) for of in grades.lessons],
                       "other_lessons": [one._asdict() for one in grades.foreign],
                       "unreadable": [one._asdict() for one in grades.unreadable]}, ensure_ascii=False, indent=1) + "\n"


def _json_of_lesson(of: LessonGrades, roster: Optional[Roster]) -> dict[str, Any]:
    return {"lesson": of.lesson, "title": of.title, "reliability": of.reliability,
            "before_and_after": None if of.twice is None else of.twice._asdict(),
            "questions": [{"id": one.name, "asked": one.asked, "answered": one.answered, "right": one.right, "right_at_first": one.at_first,
                           "difficulty": one.difficulty, "discrimination": one.discrimination,
                           "wrong": [{"answer": wrong.answer, "count": wrong.learners, "reply": wrong.reply} for wrong in one.wrong]}
                          for one in of.questions],
            "learners": [_json_of_handin(one) for one in of.handins],
            "alike": [{"file": one.one.file, "of": one.of.file, "same_seed": one.same_seed, "same_seconds": one.same_seconds}
                      for one in of.copies],
            "replaced": [one._asdict() for one in of.replaced],
            "missing": [] if roster is None else [str(roster.learners[number]) for number in of.missing]}


def _json_of_handin(one: Handin) -> dict[str, Any]:
    return {"learner": one.learner, "file": one.file, "time": one.time, "seed": one.seed, "round": one.round, "edited": one.edited,
            "right": one.right, "remarks": one.remarks,
            "answers": [{"question": answered.question, "answered": bool(answered.answers), "right": answered.right,
                         "right_at_first": answered.at_first, "tries": answered.tries, "hints_said_by_file": answered.hints,
                         "complete": answered.complete,
                         "given": [{**given, "reply": "" if given["right"] else given["reply"]} for given in answered.answers]}
                        for answered in one.answers.values()]}


# ---- a page for each learner

_PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>/* Light or dark as the reader's browser prefers; always light on paper. */
:root {{ --page: #ffffff; --text: #1b1f24; --quiet: #565d66; --edge: #d5d9de; }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ --page: #16181c; --text: #e8eaed; --quiet: #a4abb3; --edge: #363b42; }} }}
html {{ color-scheme: light dark; }}
body {{ margin: 0 auto; max-width: 46rem; padding: 2rem 1.5rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 Inter, Helvetica, Arial, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-bottom: .3rem; border-bottom: 1px solid var(--edge); break-after: avoid; }}
p {{ margin: .4rem 0; }}
.below {{ color: var(--quiet); }}
li {{ font-family: 'JetBrains Mono', 'DejaVu Sans Mono', monospace; font-size: .85rem; }}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="below">{below}</p>
</header>
<main>
{sections}</main>
</body>
</html>
"""
# The page's own words, in the languages of the program's lessons: what a page says, whether answers or none were given.
_WORDS = {
    "en": {"right": "{right} of {count} answers right", "one": "{right} of {count} answer right", "time": "handed in on {time}",
           "question": "Question {number}", "none": "Not answered."},
    "zh-CN": {"right": "共 {count} 题，答对 {right} 题", "one": "共 {count} 题，答对 {right} 题", "time": "提交时间：{time}",
              "question": "第 {number} 题", "none": "未作答。"},
}


def write_feedback(folder: str, grades: ClassGrades) -> None:
    """Every question with the answers that were given and the replies to them, and what was learned. The right answer to a question that
    wasn't solved isn't told. Pages of the same names are replaced."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        raise Problem(f"{folder}: expected a folder for the pages") from None
    taken: set[str] = set()
    for of in grades.lessons:
        for handin in of.handins:
            who = in_file_name(handin.learner)
            stem = in_file_name(pathlib.PurePath(of.lesson).stem) + (f"-{who}" if who else "")
            name, number = stem, 1
            while name in taken:
                number += 1
                name = f"{stem}-{number}"
            taken.add(name)
            write_whole(os.path.join(folder, name + ".html"), _page(of, handin))


def _page(of: LessonGrades, handin: Handin) -> str:
    words = _WORDS.get(of.language, _WORDS["en"])
    count = len(handin.answers)
    below = [handin.learner, words["one" if count == 1 else "right"].format(right=handin.right, count=count),
             words["time"].format(time=handin.time) if handin.time else ""]
    sections = ""
    for number, one in enumerate(handin.answers.values(), 1):
        sections += f"<section>\n<h2>{words['question'].format(number=number)}</h2>\n{_paragraph(one.ask or one.question)}"
        given = "".join(f"<li>{html.escape(_given(answer))}</li>\n" for answer in one.answers)
        sections += f"<ol>\n{given}</ol>\n" if given else _paragraph(words["none"])
        learned = one.answers[-1]["reply"] if one.right else ""
        sections += (_paragraph(learned) if learned else "") + "</section>\n"
    return _PAGE.format(language=of.language, title=html.escape(of.title), below=html.escape(" · ".join(filter(None, below))), sections=sections)


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>\n"


def _given(answer: dict[str, Any]) -> str:
    if answer["right"]:
        return f"✓ {answer['answer']}"
    return f"✗ {answer['answer']}" + (f" → {answer['reply']}" if answer["reply"] else "")
