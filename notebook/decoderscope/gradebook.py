"""A class's points as a learning platform imports them: who, and a column for each lesson. What an import makes of a field is read
from the sources of Canvas (its GradebookImporter) and of Moodle (its gradeimport_csv).

Both platforms take an empty field for "no grade", which takes away one that stands there. So there is no line for those who handed
nothing in; and if the roster has a column of the lesson, as an exported gradebook does ("From text to text (123)"), its name is kept,
by which Canvas finds the assignment, and its field where a hand-in is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Optional

from .files import readable
from .grades import ClassGrades, ClassLine, class_lines
from .roster import Roster

# Platforms' own words, in the order in which they write them.
_OF_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section")
_ONLY_EXPORTED = ("Integration ID", "Root Account")  # those of Canvas' that no other roster has
_OF_MOODLE = ("First name", "Last name", "Surname", "Username", "ID number", "Email address")
_FINDERS = ("Username", "ID number", "Email address")  # those of Moodle's by which an import can find a learner


class Gradebook(NamedTuple):
    """records: the line of columns first. left_out: handed in, but the platform couldn't tell who they are."""

    records: list[list[str]]
    left_out: list[str]


def canvas_gradebook(grades: ClassGrades, roster: Optional[Roster]) -> Gradebook:
    """Canvas finds a learner by ID, SIS User ID or SIS Login ID, otherwise by the name."""
    is_canvas = _has(roster, "ID") and (_has(roster, "SIS User ID") or _has(roster, "SIS Login ID"))
    who = [column for column in _OF_CANVAS
           if column == "Student" or (_has(roster, column) if is_canvas else column not in _ONLY_EXPORTED)]
    lessons = _lesson_columns(grades, roster)

    def field(line: ClassLine, column: str) -> str:
        if is_canvas and _has(roster, column):
            return _field_of(line, roster, roster.column(column) if roster else None)
        if column == "Student":
            return line.learner
        if roster is None or line.enrolled is None:
            return ""
        one = roster.learners[line.enrolled]
        return {"SIS User ID": one.id, "Section": one.section}.get(column, "")

    possible = ["Points Possible", *[""] * (len(who) - 1), *[str(of.points) for of in grades.lessons]]
    return Gradebook([[*who, *[name for name, _ in lessons]], possible,
                      *_lines(_lines_with_points(grades, roster), grades, roster, lessons, who, field)], [])


def moodle_gradebook(grades: ClassGrades, roster: Optional[Roster]) -> Gradebook:
    """Moodle finds a learner by the column that the teacher chooses, and gives the points of a line in which it is empty to the
    learner of the line before. So each column that can be chosen is filled in each line: those that some learners don't have aren't
    written; if every one is such a column, the fullest is, and who isn't in it is left out."""
    lines = _lines_with_points(grades, roster)
    who = [column for column in _OF_MOODLE if _has(roster, column) and column not in _FINDERS]
    finders = [column for column in _OF_MOODLE if _has(roster, column) and column in _FINDERS]
    is_moodle = bool(finders)
    if not is_moodle:
        who, finders = ["Full name"], ["ID number"]

    def field(line: ClassLine, column: str) -> str:
        if is_moodle:
            return _field_of(line, roster, roster.column(column) if roster else None)
        return line.learner if column == "Full name" or roster is None or line.enrolled is None else roster.learners[line.enrolled].id

    empty = {column: sum(not field(line, column) for line in lines) for column in finders}
    finders.sort(key=lambda column: empty[column])
    fullest = finders[0]
    who += [column for column in finders if column == fullest or empty[column] == 0]
    left_out = [line.learner or "(no name)" for line in lines if not field(line, fullest)]
    lessons = _lesson_columns(grades, roster)
    kept = [line for line in lines if field(line, fullest)]
    return Gradebook([[*who, *[name for name, _ in lessons]], *_lines(kept, grades, roster, lessons, who, field)], left_out)


def _has(roster: Optional[Roster], column: str) -> bool:
    return roster is not None and roster.column(column) is not None


def _lines_with_points(grades: ClassGrades, roster: Optional[Roster]) -> list[ClassLine]:
    """Only those who handed something in: an empty field would take away a grade that they have."""
    return [line for line in class_lines(grades, roster) if any(line.handins)]


def _field_of(line: ClassLine, roster: Optional[Roster], column: Optional[int]) -> str:
    """As the roster's file has it; nothing if it doesn't."""
    if roster is None or line.enrolled is None or column is None:
        return ""
    fields = roster.learners[line.enrolled].fields
    return readable(fields[column]) if column < len(fields) else ""


def _is_column_of(heading: str, title: str) -> bool:
    """ "From text to text", "From text to text (123)" as Canvas exports it, "Manual item: From text to text (Real)" as Moodle does."""
    if heading != title and heading.endswith(")") and " (" in heading:
        heading = heading[:heading.rindex(" (")]
    return heading == title or heading.endswith(": " + title)


def _lesson_columns(grades: ClassGrades, roster: Optional[Roster]) -> list[tuple[str, Optional[int]]]:
    """Of each lesson its column's name, and where the roster has it."""
    columns: list[tuple[str, Optional[int]]] = []
    for of in grades.lessons:
        there = [number for number, column in enumerate(roster.columns if roster else []) if _is_column_of(readable(column), of.title)]
        columns.append((readable(roster.columns[there[0]]), there[0]) if roster and there else (of.title, None))
    return columns


def _lines(lines: Sequence[ClassLine], grades: ClassGrades, roster: Optional[Roster], lessons: Sequence[tuple[str, Optional[int]]],
           who: Sequence[str], field: Callable[[ClassLine, str], str]) -> list[list[str]]:
    """The book's lines: who, by `field`, and the points; where a hand-in is missing, what the roster has."""
    records = []
    for line in lines:
        points = []
        for of, handin, (_, column) in zip(grades.lessons, line.handins, lessons):
            known = _field_of(line, roster, column)
            points.append(of.points_of(handin) if handin is not None else "" if known == "-" else known)  # "-": Moodle's "no grade"
        records.append([*[field(line, column) for column in who], *points])
    return records
