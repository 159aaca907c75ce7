"""A class by its roster, and what learners are called if their names aren't to be seen."""

from __future__ import annotations

import csv
import io
import os
import pathlib
import secrets
from collections.abc import Iterator
from typing import NamedTuple, Optional

from .files import readable
from .overlay import Problem

_MOST_BYTES = 16 << 20
_MOST_LINES = 100_000
# What the columns are called, in small letters: in rosters of one's own, and in the gradebooks that Canvas and Moodle export.
_IDS = ("id", "username", "login", "idnumber", "email", "student id", "sis user id", "sis login id", "id number", "email address")
_NAMES = ("name", "student", "student name", "full name")
_GIVEN = ("first name", "firstname")
_FAMILY = ("last name", "lastname", "surname")
_SECTIONS = ("section", "group", "groups")
_POINTS = "Points Possible"  # Canvas' second line says this in the place of a name


class Enrolled(NamedTuple):
    """A learner of the roster. What the roster doesn't say is empty.

    fields    of the line, by the roster's columns
    answers   to "who are you?": ids and names by which a hand-in finds it, in small letters
    """

    id: str
    name: str
    section: str
    fields: list[str]
    answers: list[str]

    def __str__(self) -> str:
        name = f"{self.name} ({self.id})" if self.name and self.id else self.name or self.id
        return name + (f", {self.section}" if self.section else "")


class Roster(NamedTuple):
    columns: list[str]
    learners: list[Enrolled]

    def called(self, name: str) -> list[int]:
        """The learners who go by this name or number; more than one if a name is theirs."""
        known = _known(name)
        return [number for number, one in enumerate(self.learners) if known in one.answers]

    def column(self, name: str) -> Optional[int]:
        """The column of this name, in any letters."""
        known = [_known(column) for column in self.columns]
        return known.index(_known(name)) if _known(name) in known else None


def read_roster(path: str) -> Roster:
    """CSV with a line of column names first. Columns that aren't known are skipped, and so is Canvas' line of possible points."""
    lines = list(_records(path))
    roster = Roster(lines[0][1] if lines else [], [])
    ids = [column for column in map(roster.column, _IDS) if column is not None]
    name, given, family, section = (_first(names, roster) for names in (_NAMES, _GIVEN, _FAMILY, _SECTIONS))
    if not ids and name is None and (given is None or family is None):
        raise Problem(f'{path}:1: no column of ids or names; expected a first line such as "id,name,section"')
    seen = set()
    for line, fields in lines[1:]:
        def at(column: Optional[int], fields: list[str] = fields) -> str:
            return readable(fields[column]) if column is not None and column < len(fields) else ""

        whole = at(name) if name is not None else readable(f"{at(given)} {at(family)}")
        own = [at(column) for column in ids]
        family_first, comma, rest = whole.partition(", ")  # "Lovelace, Ada" is "Ada Lovelace", too
        names = [*own, whole, f"{rest} {family_first}" if comma else ""]
        answers = list(dict.fromkeys(_known(one) for one in names if one))
        if not answers or whole == _POINTS:
            continue
        learner = Enrolled(next((one for one in own if one), ""), whole, at(section), fields, answers)
        if learner.id and learner.id in seen:
            raise Problem(f"{path}:{line}: the id {learner.id} stands in a line before this one; expected each once")
        seen.add(learner.id)
        roster.learners.append(learner)
    return roster


class Pseudonyms:
    """ "learner-3f2a1" in the place of a name. A file keeps who has which one, so that it stays the same."""

    def __init__(self, path: str):
        self.path = path
        self._of: dict[str, str] = {}
        if not os.path.exists(path):
            return
        for line, fields in _records(path):
            if len(fields) == 2 and fields[0].startswith("learner-"):
                self._of.setdefault(fields[1], fields[0])
            elif line != 1 or fields != ["pseudonym", "learner"]:
                raise Problem(f"{path}:{line}: expected a pseudonym such as learner-3f2a, a comma and a learner: "
                              "what --pseudonyms wrote before")

    def of(self, who: str) -> str:
        """The first time, one is drawn. `who`: a learner, told apart from all others."""
        taken = set(self._of.values())
        while who not in self._of:
            drawn = f"learner-{secrets.randbelow(1 << 20):05x}"
            if drawn not in taken:
                self._of[who] = drawn
        return self._of[who]

    def text(self) -> str:
        return "pseudonym,learner\n" + "".join(f"{self._of[who]},{csv_field(who)}\n" for who in sorted(self._of))


def csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def _known(name: str) -> str:
    return readable(name).lower()


def _first(names: tuple[str, ...], roster: Roster) -> Optional[int]:
    return next((column for column in map(roster.column, names) if column is not None), None)


def _records(path: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a CSV file, each with its number in the file, without the blanks around its fields."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as refused:
        raise Problem(f"{path}: cannot be read: {refused.strerror}") from None
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise Problem(f"{path}: {'too large' if len(data) > _MOST_BYTES else 'not a text'}; expected CSV in UTF-8 of at most 16 MB")
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""), strict=True, skipinitialspace=True)
    count = 0
    while True:
        line = reader.line_num + 1
        try:
            fields = [field.strip() for field in next(reader)]
        except StopIteration:
            return
        except csv.Error as wrong:
            raise Problem(f"{path}:{line}: {wrong}; expected CSV, in quotes what holds a comma") from None
        if not any(fields) and len(fields) < 2:
            continue
        count += 1
        if count > _MOST_LINES:
            raise Problem(f"{path}:{line}: too many lines, expected at most {_MOST_LINES}")
        yield line, fields
