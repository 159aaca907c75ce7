"""A class's grades: python -m decoderscope grade, on what the desktop program, which is on the PATH, says of each hand-in."""

import csv
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import handins
from decoderscope import Problem
from decoderscope.grade import csv_of, table_of
from decoderscope.grades import grade_folder
from decoderscope.roster import read_roster
from handins import BEGINNING, MASKS, MOUNTAIN, choice, handin, number, of_masks, signed, write

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def grade(*arguments):
    return subprocess.run([sys.executable, "-m", "decoderscope", "grade", *map(str, arguments)], capture_output=True, encoding="utf-8")


def judge(*arguments):
    return subprocess.run(["decoderscope", "lessons", "judge", *map(str, arguments)], capture_output=True, encoding="utf-8")


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder, self.out = (self.enter(tempfile.TemporaryDirectory()) for _ in range(2))

    def enter(self, temporary):
        self.addCleanup(temporary.cleanup)
        return pathlib.Path(temporary.name)

    def own_lesson(self, name, *changes):
        """The lesson on masks as a file of one's own, with something behind each of some places."""
        text = (handins.lessons / "masks" / "lesson.md").read_text(encoding="utf-8")
        for behind, more in changes:
            self.assertIn(behind, text)
            text = text.replace(behind, behind + more, 1)
        write(self.out / name, text)
        return self.out / name


def question(of, name):
    return next(one for one in of.questions if one.name == name)


class Thirty(Folders):
    """The hand-ins of a class of thirty: three damaged, two of another lesson, one edited by hand."""

    def write_class(self):
        for i in range(24):  # four learners for each number of good answers from 0 to 5
            write(self.folder / f"learner-{10 + i}.json", handin("masks", of_masks(i % 6), f"learner-{10 + i}", i + 1))
        for name in ("lost-1", "lost-2"):
            write(self.folder / f"{name}.json", handin("weight", {"largest": [(number(0.95), MOUNTAIN, "")]}, name, 1))
        whole = handin("masks", of_masks(5), "edited", 99)
        text = json.dumps(whole)
        write(self.folder / "damaged-1.json", text[:len(text) // 2])
        write(self.folder / "damaged-2.json", "")
        write(self.folder / "damaged-3.json", '{"format": "decoderscope-handin", "version": 2}')
        whole["answers"][0]["given"][0]["answer"]["number"] = 200.0  # a right answer was made wrong
        write(self.folder / "edited.json", whole)

    def test_what_cant_be_read_is_named_and_nothing_is_lost(self):
        self.write_class()
        grades = grade_folder(str(self.folder), ["--lesson", "masks"])
        [of] = grades.lessons
        self.assertEqual(len(of.handins), 25)
        self.assertEqual(len(grades.foreign), 2)
        self.assertIn("A weight is a comparison", grades.foreign[0].why)
        self.assertEqual([one.file for one in grades.unreadable], ["damaged-1.json", "damaged-2.json", "damaged-3.json"])
        for one in grades.unreadable:
            self.assertTrue(one.why)
            self.assertNotIn("\n", one.why)
            self.assertNotIn(str(self.folder), one.why)
        # What was edited counts for what it says now.
        by_file = {one.file: one for one in of.handins}
        edited, first = by_file["edited.json"], by_file["learner-10.json"]
        self.assertEqual((edited.right, edited.edited, edited.seed), (4, True, 99))
        self.assertEqual(sum(one.edited for one in of.handins), 1)
        self.assertEqual((first.right, first.answers["kept"].tries, first.answers["kept"].at_first), (5, 2, False))
        self.assertTrue(first.time.endswith("Z"))
        # Of 24, those with more good answers than the question's number have it right at first; the edited one has all but the first.
        for i, name in enumerate(MASKS):
            with self.subTest(name):
                one = question(of, name)
                at_first = 4 * (5 - i) + (0 if i == 0 else 1)
                self.assertEqual((one.answered, one.right, one.at_first), (25, 24 if i == 0 else 25, at_first))
                self.assertAlmostEqual(one.difficulty, at_first / 25)
                self.assertEqual(one.wrong[0].learners, 24 - 4 * (5 - i))
        kept = question(of, "kept")
        self.assertEqual((kept.wrong[0].answer, kept.wrong[0].reply), ("289", "Then there would be no mask."))
        self.assertEqual(kept.wrong[-1].answer, "200")
        self.assertTrue(question(of, "leak").wrong[0].answer.startswith("Yes: the score is computed"))
        self.assertEqual(question(of, "open").answered, 0)
        self.assertIsNone(question(of, "open").discrimination)

    def test_a_table_csv_and_json(self):
        self.write_class()
        done = grade(self.folder, "--lesson", "masks", "--csv", self.out / "points.csv")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"decoderscope grade: {self.folder}: 3 hand-ins could not be read; expected none\n")
        for seen in ("25 hand-ins", "learner-10", "✓2", "damaged-2.json: ", "lost-1.json: ", "difficulty", "edited.json: edited"):
            self.assertIn(seen, done.stdout)
        lines = (self.out / "points.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 26)
        # The first two columns are what learning platforms import.
        self.assertEqual(lines[0], "id,points,of,lesson,time,file,kept,future,leak,open,both,unhidden,where")
        for line, begin, end in ((lines[1], "edited,4,7,masks,", ",edited.json,0,,1,,1,1,1"),  # e comes before l
                                 (lines[2], "learner-10,5,7,masks,", ",learner-10.json,1,,1,,1,1,1")):
            self.assertTrue(line.startswith(begin) and line.endswith(end), line)
        done = grade(self.folder, "--json")
        self.assertEqual(done.returncode, 1)
        read = json.loads(done.stdout)
        self.assertEqual([one["lesson"] for one in read["lessons"]], ["weight", "masks"])  # without --lesson both are graded
        self.assertEqual(len(read["lessons"][1]["learners"]), 25)
        self.assertEqual(len(read["unreadable"]), 3)
        self.assertEqual(read["lessons"][1]["learners"][1]["answers"][0]["given"],
                         [{"answer": "289", "right": False, "reply": "Then there would be no mask."}, {"answer": "153", "right": True, "reply": ""}])
        write(self.out / "a,b.json", handin("masks", {}, "=1+1", 1))
        written = csv_of(grade_folder(str(self.out)))
        self.assertIn("\n'=1+1,0,7,masks,", written)
        self.assertIn(',"a,b.json"', written)

    def test_the_documents_show_what_is_printed(self):
        handins.write_class_of_thirty(self.folder)
        done = grade(self.folder, "--lesson", "text")
        self.assertEqual(done.returncode, 1)
        printed = iter([line.rstrip() for line in done.stdout.splitlines()])
        text = (DOCS / "teaching.md").read_text(encoding="utf-8")
        block = re.search(r"\nA class of thirty.*?\n\n((?:    .*\n|\n)+)", text).group(1)
        wanted = [line[4:] for line in block.splitlines() if line and not line.endswith("  …")]  # "…": lines are left out here
        self.assertGreater(len(wanted), 12)
        for line in wanted:
            self.assertIn(line, printed)  # in their order: what was passed by isn't looked at again


class Statistics(Folders):
    def test_difficulty_discrimination_and_reliability_are_those_of_the_formulas(self):
        # Four learners with 0, 2, 4 and 5 good answers of five: the items are 0111, 0111, 0011, 0011, 0001.
        for good in (0, 2, 4, 5):
            write(self.folder / f"{good}.json", handin("masks", of_masks(good), str(good), 1))
        [of] = grade_folder(str(self.folder)).lessons
        self.assertAlmostEqual(question(of, "both").difficulty, 0.5)
        # "both" is 0, 0, 1, 1 against 0, 2, 3, 4 of the others: Pearson by hand, 0.625 / (0.5 · √2.1875).
        self.assertAlmostEqual(question(of, "both").discrimination, 0.625 / (0.5 * 2.1875**0.5))
        # Variances: 3/16 twice, 1/4 twice, 3/16 and two of 0; of the totals 0, 2, 4, 5: 3.6875. Seven items.
        self.assertAlmostEqual(of.reliability, 7 / 6 * (1 - (3 * 3 / 16 + 2 * 0.25) / 3.6875))

    def test_versions_are_each_graded_by_their_own_questions(self):
        lesson = self.own_lesson("mine.md", ("```lesson\n", "versions: 2\n"), ("id: kept\n", "version: 1\n"), ("id: leak\n", "version: 0\n"),
                                 ("id: both\n", "version: 0\n"))

        def hand_in(learner, version, *answers):
            given = {name: [(MASKS[name][0 if right else 1], MASKS[name][2], "")] for name, right in answers}
            write(self.folder / f"{learner}.json", handin("", given, learner, 1, version=version, path=lesson))

        hand_in("Ada", 0, ("leak", True), ("both", True), ("where", True))
        hand_in("Bo", 0, ("leak", False))
        hand_in("Cy", 1, ("kept", True), ("where", True))
        grades = grade_folder(str(self.folder), ["--lesson", str(lesson)])
        [of] = grades.lessons
        self.assertEqual([len(one.answers) for one in of.handins], [6, 6, 5])  # of the seven, without "kept"; without "leak" and "both"
        self.assertEqual(len(of.questions), 7)
        for name, asked, answered, right in (("kept", 1, 1, 1), ("leak", 2, 2, 1), ("both", 2, 1, 1), ("where", 3, 2, 2)):
            with self.subTest(name):
                one = question(of, name)
                self.assertEqual((one.asked, one.answered, one.right), (asked, answered, right))
                self.assertAlmostEqual(one.difficulty, right / asked)
        self.assertEqual(len(question(of, "leak").wrong), 1)
        # "leak" is 1, 0 against 2/5, 0 of the others; "where" 1, 0, 1 against 2/5, 0, 1/4: Pearson by hand.
        self.assertAlmostEqual(question(of, "leak").discrimination, 1.0)
        self.assertAlmostEqual(question(of, "where").discrimination, (0.65 / 3 - 2 / 3 * 0.65 / 3)
                               / (2 / 9 * ((0.16 + 0.0625) / 3 - 0.65 / 3 * 0.65 / 3))**0.5)
        # Of six points, as many as the longest version asks: 3 of 6, 0 of 6, 2 of 5.
        self.assertEqual(of.points, 6)
        self.assertEqual([of.points_of(one) for one in of.handins], ["3", "0", "2.40"])
        self.assertIn("–", table_of(grades))
        self.assertIn("Cy,2.40,6,", csv_of(grades))

    def test_a_learners_first_and_last_time_are_compared(self):
        for learner, good, round in (("Ada", 1, 0), ("Ada", 4, 1), ("Bo", 2, 0), ("Bo", 3, 2), ("once", 5, 0)):
            write(self.folder / f"{learner}{round}.json", handin("masks", of_masks(good), learner, 1, round))
        [of] = grade_folder(str(self.folder), ["--lesson", "masks"]).lessons
        self.assertEqual(of.twice.learners, 2)
        self.assertAlmostEqual(of.twice.before, 1.5 / 7)  # of seven questions
        self.assertAlmostEqual(of.twice.after, 3.5 / 7)
        self.assertAlmostEqual(of.twice.gain, (3.5 - 1.5) / (7 - 1.5))

    def test_points_by_the_first_answers_or_by_the_first_two(self):
        write(self.folder / "a.json", handin("masks", of_masks(2), "Ada", 1))
        for tries, right in ([], 5), (["--tries", "1"], 2), (["--tries", "2"], 5):
            [of] = grade_folder(str(self.folder), ["--lesson", "masks", *tries]).lessons
            self.assertEqual(of.handins[0].right, right)
        done = grade(self.folder, "--tries", 1)
        self.assertEqual(done.returncode, 0)
        self.assertIn("kept: 1 of 1 right", done.stdout)
        self.assertIn("both: 0 of 1 right", done.stdout)
        self.assertEqual(grade(self.folder, "--tries", 0).returncode, 2)

    def test_where_a_lesson_counts_answers_those_beyond_dont_count_whatever_a_file_holds(self):
        lesson = self.own_lesson("strict.md", ("```lesson\n", "tries: 1\n"))
        write(self.folder / "a.json", handin("", of_masks(3), "Ada", 1, path=lesson))
        [of] = grade_folder(str(self.folder), ["--lesson", str(lesson)]).lessons
        self.assertEqual(of.handins[0].right, 3)


class OfWhichLesson(Folders):
    def test_a_lesson_from_elsewhere_is_known_by_its_contents_wherever_it_lies(self):
        mine = self.own_lesson("mine.md", ("# Who may look at whom", "\n"))
        write(self.folder / "a.json", handin("", of_masks(5), "Ada", 1, path=mine))
        there = self.enter(tempfile.TemporaryDirectory())
        text = mine.read_text(encoding="utf-8")
        write(there / "other-name.md", text)
        write(there / "mine.md", text + "\nMore.\n")

        def graded(*options):
            return grade_folder(str(self.folder), list(map(str, options)))

        self.assertEqual(graded("--lesson", there / "other-name.md").lessons[0].handins[0].right, 5)
        # Another edition of the same file is judged by what the hand-in says, and named.
        [edition] = graded("--lesson", there / "mine.md").lessons
        self.assertEqual(edition.handins[0].right, 5)
        self.assertIn("another edition", edition.handins[0].remarks[0])
        write(there / "mine.md", "# Another title\n" + text.partition("\n")[2])
        self.assertEqual(len(graded("--lesson", there / "mine.md").foreign), 1)
        [unread] = graded().unreadable  # none of the program's
        self.assertIn("handed in for mine.md, which isn't one of the program's lessons", unread.why)
        # What a learner puts beside the hand-in doesn't grade it.
        write(self.folder / "mine.md", text)
        [unread] = graded().unreadable
        self.assertIn("name its file with --lesson", unread.why)

    def test_what_isnt_there_is_one_sentence(self):
        for arguments, said in (([self.folder / "nothing"], "nothing: expected a folder of hand-ins"),
                                ([self.folder, "--roster", self.folder / "none.csv"], "none.csv: cannot be read: No such file or directory"),
                                ([self.folder, "--csv", self.folder / "nowhere" / "points.csv"],
                                 "points.csv: cannot be written: No such file or directory")):
            done = grade(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("decoderscope grade: ") and done.stderr.endswith(said + "\n"), done.stderr)
        self.assertEqual(grade().returncode, 2)
        write(self.folder / "a.json", handin("masks", of_masks(5), "Ada", 1))
        done = grade(self.folder, "--lesson", "maskes")
        self.assertEqual(done.returncode, 1)
        self.assertIn("maskes: neither a lesson's name nor a file", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_without_the_program_it_is_asked_for(self):
        for command in (["grade", self.folder], ["scorm", "weight", "--out", self.out / "x.zip"]):
            done = subprocess.run([sys.executable, "-m", "decoderscope", *command], capture_output=True, encoding="utf-8",
                                  env={**os.environ, "PATH": "/nowhere"})
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"decoderscope {command[0]}: expected the desktop program, decoderscope, on the PATH\n"))

    def test_one_hand_in_as_the_program_judges_it(self):
        write(self.folder / "a.json", handin("masks", of_masks(2), "Ada", 1))
        done = judge(self.folder / "a.json", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        self.assertEqual((made["learner"], made["lesson"], made["version"]), ("Ada", "masks", 0))
        self.assertEqual([(one["name"], one["points"], one["of"], len(one["answers"]), one["first_right"]) for one in made["questions"]],
                         [("kept", 1, 1, 1, True), ("future", 0, 1, 0, False), ("leak", 1, 1, 1, True), ("open", 0, 1, 0, False),
                          ("both", 1, 1, 2, False), ("unhidden", 1, 1, 2, False), ("where", 1, 1, 2, False)])
        self.assertIn("masks  Who may look at whom: 5 of 7 right\n", judge(self.folder / "a.json").stdout)
        done = judge(self.folder / "a.json", "--lesson", "weight")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("handed in for “Who may look at whom”, not for “A weight is a comparison”", done.stderr)
        self.assertEqual(judge(self.folder / "none.json", "--json").returncode, 1)

    def test_the_old_command_says_where_it_moved(self):
        done = subprocess.run(["decoderscope", "lessons", "grade", self.folder, "--lesson", "masks", "--csv", "x.csv", "--json"],
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "decoderscope: lessons grade has moved to the Python package: python3 -m decoderscope grade FOLDER, "
                                      "with the same options\n")

    def test_documented_commands(self):
        lines = [line.strip() for file in sorted(DOCS.glob("*.md")) for line in file.read_text(encoding="utf-8").splitlines()
                 if line.startswith("    python3 -m decoderscope grade ")]
        self.assertGreater(len(lines), 1)
        for line in lines:
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                words = shlex.split(line.replace("python3", shlex.quote(sys.executable), 1).partition(" > ")[0])
                pathlib.Path(folder, "hand-ins").mkdir()
                lesson = words[words.index("--lesson") + 1] if "--lesson" in words else "text"
                if lesson.endswith(".md"):
                    write(pathlib.Path(folder, lesson), (handins.lessons / "masks" / "lesson.md").read_bytes())
                write(pathlib.Path(folder, "hand-ins", "one.json"), handin("" if lesson.endswith(".md") else lesson, {}, "Ada", 1,
                                                                           path=pathlib.Path(folder, lesson) if lesson.endswith(".md") else None))
                done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("Ada", done.stdout)


# ---- a hundred hand-ins with some fifty kinds of trouble: each is graded right or named, and the others are graded


def seconds(seed):
    return lambda second: f"2026-03-{1 + seed % 28:02d}T10:{seed // 28 % 60:02d}:{7 * second % 60:02d}Z"


def file_of(name, seed, good=5):
    return handin("masks", of_masks(good, seconds(seed)), name, seed)


def given_in(file, question):
    return next(one["given"] for one in file["answers"] if one["question"] == question)


def changed(change):
    def make(file):
        change(file)
        return json.dumps(signed(file), ensure_ascii=False)
    return make


def as_is(text):
    return lambda file: text


def named(name):
    return changed(lambda file: file.update(learner=name))


def answering(question, answer):
    def change(file):
        given = given_in(file, question)
        given[:] = [{**given[-1], "answer": answer}]
    return changed(change)


def troubles():
    """How a file gets each kind; how many are right then (None: it has no grades); what is printed in its line; its name."""
    words, chinese = choice("masks", "leak", 2)["says"], handins.choices("masks", "leak", "lesson.zh_CN.md")[2]
    whole = json.dumps(file_of("whole", 900))

    def spoken(number, says):
        return {"kind": "choice", "choice": number, "says": says}

    def edited(file):
        given_in(file, "kept")[-1]["answer"]["number"] = 200.0

    def often(file):
        given = given_in(file, "kept")
        given[:0] = [{**given[0], "answer": number(289)}] * 75000

    def more(file):
        given_in(file, "leak").append({**given_in(file, "leak")[0], "answer": spoken(0, "")})

    def of_lesson(name):
        return changed(lambda file: file["lesson"].update(name=name, digest="1"))

    def other_edition(answer=None):
        def change(file):
            file["lesson"]["digest"] = "0123456789abcdef"
            for given in given_in(file, "leak") if answer else []:
                given["answer"] = answer
        return changed(change)

    def without_words(file):
        file["lesson"]["digest"] = "0123456789abcdef"
        for given in given_in(file, "leak"):
            del given["answer"]["says"]

    def copied(learner, seed=905):
        return changed(lambda file: file.update(**{**file_of("Copied", 905), "learner": learner, "seed": seed}))

    return [
        # Names.
        (named("A\x1b[31mda"), 5, "characters that can't be shown"),
        (named("Ada\u202etxt"), 5, "characters that can't be shown"),
        (named("Ada\nBob"), 5, "characters that can't be shown"),
        (named("a" * 10000), 5, "too long"),
        (named(" "), 5, "no name"),
        (named("=1+1"), 5, ""),
        (named('Lovelace, "Ada"'), 5, ""),
        (named("<script>alert(1)</script>"), 5, ""),
        (named("Sam"), 5, "another learner has this name"),
        (named("Sam"), 5, "another learner has this name"),
        (named("Namesake"), 5, "2 on the roster go by this name"),
        (named("N-2"), 5, ""),  # the id of one of them
        (named("Stranger"), 5, "not on the roster"),
        # Answers.
        (lambda file: [edited(file), json.dumps(file)][1], 4, "Edited"),
        (changed(edited), 4, ""),
        (changed(often), 4, "75001 answers, of which the first 201 are judged"),
        (answering("leak", {"kind": "choice", "choice": 999}), 4, "there is no such choice"),
        (answering("leak", spoken(0, words)), 5, "numbered as another choice"),
        (answering("leak", spoken(2, chinese)), 5, ""),
        (answering("leak", {"kind": "choice", "choice": 2}), 5, ""),
        (answering("leak", {"kind": "number", "number": 2}), 4, "not an answer to a question of this kind"),
        (answering("kept", {"kind": "number", "number": None}), None, "expected a"),
        (answering("kept", {"kind": "essay"}), None, "essay"),
        (changed(more), 5, "answers follow the right one"),
        (changed(lambda file: file["answers"][0].update(question="nonsense")), 4, "which the lesson doesn't ask"),
        (changed(lambda file: file["answers"].append(file["answers"][0])), 5, "answered in two places"),
        (changed(lambda file: file.update(answers=[])), 0, ""),
        (changed(lambda file: file["answers"][0].update(hints=-1)), None, "hints"),
        (changed(lambda file: file["answers"][0].update(hints=1000000000)), 5, ""),
        (changed(lambda file: file.update(answers=[None] * 2000)), None, "2000 questions"),
        # Runs.
        (changed(lambda file: [run.update(model="reverse") for run in file["runs"]]), 0, "model"),
        (changed(lambda file: given_in(file, "kept")[0].update(run=99)), None, "expected less than"),
        (changed(lambda file: file.update(runs=[None] * 500)), None, "500 runs"),
        (changed(lambda file: file.update(runs=[[1, 2] for _ in file["runs"]])), 0, "kept: "),
        # Lessons and editions.
        (of_lesson("weight"), None, "handed in for"),
        (of_lesson("../../../etc/passwd"), None, "handed in for"),
        (other_edition(), 5, "another edition"),
        (other_edition(spoken(0, words)), 5, "another edition"),
        (other_edition(spoken(2, "It is Tuesday.")), 4, "no choice here says “It is Tuesday.”"),
        (changed(without_words), 5, "known by numbers alone"),
        # Files.
        (as_is('{"format": "decoderscope-handin", "version": 1, "lesson": "masks", "answers": []}'), 0, "no name"),
        (changed(lambda file: file.update(version=99)), None, "expected 1 to"),
        (as_is(whole[:400]), None, "not valid JSON"),
        (as_is(""), None, "not valid JSON"),
        (as_is(b"PK\x03\x04\0\0\0word/document.xml"), None, "is 0, expected a text"),
        (as_is("[1, 2]"), None, "expected what"),
        (as_is('{"learner": {"name": "Ada", "seed": 1}, "lessons": {}}'), None, "format"),
        (as_is("\ufeff" + json.dumps(file_of("Bom", 901))), 5, ""),
        (as_is(b"\xff\xfe{\0}\0"), None, "is 0, expected a text"),
        (as_is(" " * (17 << 20)), None, "expected"),
        (as_is("[" * 100000), None, "nested"),
        (as_is('{"format": "decoderscope-handin", "format": "x"}'), None, "format"),
        (as_is('{"format": "decoderscope-handin", "version": 1e999}'), None, "not valid JSON"),
        (as_is(json.dumps(file_of("Capital", 902))), 5, "", "ada.JSON"),
        (as_is(json.dumps(file_of("Text", 903))), None, "not a .json file", "decoderscope-masks-Ada.json.txt"),
        (as_is(json.dumps(file_of("Escape", 904))), 5, "", "\x1b[2Jescape.json"),
        (as_is(json.dumps(file_of("Copied", 905))), 5, ""),
        (copied("Copier"), 5, "the same seed"),
        (copied("Sly", 906), 5, "5 answers that are the same in the same second"),
        (as_is(json.dumps(file_of("Twice", 907))), None, "handed in again"),
        (as_is(json.dumps(file_of("Twice", 907))), 5, ""),
    ]


class Hundred(Folders):
    def lines_of(self, printed, file):
        found, section = "", ""
        for line in printed.splitlines():
            section = line if not line.startswith("  ") else section
            found += f"{section}{line}\n" if line.startswith(f"  {file}: ") else ""
        return found

    def test_each_is_graded_right_and_each_trouble_is_named(self):
        every = troubles()
        self.assertGreaterEqual(len(every), 50)
        roster = "id,name,section\nN-1,Namesake,A\nN-2,Namesake,B\n"
        points = {}
        for i in range(50):
            points[f"plain-{10 + i}.json"] = 5
            write(self.folder / f"plain-{10 + i}.json", file_of(f"Plain {10 + i}", 10 + i, i % 6))
            roster += f'P-{i},"{10 + i}, Plain",A\n' if i < 48 else ""
        roster += "P-98,Plain 58,B\nP-99,Plain 59,B\nM-1,Missing Person,B\n"
        for i, (make, _, _, *name) in enumerate(every):
            write(self.folder / (name[0] if name else f"trouble-{100 + i}.json"), make(file_of(f"Learner {100 + i}", 100 + i)))
        (self.folder / "folder.json").mkdir()
        write(self.folder / "folder.json" / "inside.json", file_of("Inside", 950))
        points["folder.json/inside.json"] = 5
        (self.folder / "dangling.json").symlink_to("nowhere.json")
        os.mkfifo(self.folder / "pipe.json")
        write(self.folder / "._plain-10.json", b"\0\5\x16\7")
        write(self.folder / "roster.csv", roster)

        graded = grade(self.folder, "--lesson", "masks", "--roster", self.folder / "roster.csv", "--csv", self.out / "points.csv",
                       "--canvas", self.out / "canvas.csv", "--moodle", self.out / "moodle.csv", "--feedback", self.out / "pages")
        self.assertEqual(graded.returncode, 1)  # some can't be read
        self.assertNotRegex(graded.stdout, "[\x00-\x09\x0b-\x1f\u202e]")
        written = (self.out / "points.csv").read_text(encoding="utf-8")
        lines = list(csv.DictReader(io.StringIO(written)))
        for i, (_, right, what, *name) in enumerate(every):
            file = name[0].replace("\x1b", "") if name else f"trouble-{100 + i}.json"
            said = self.lines_of(graded.stdout, file)
            with self.subTest(file):
                self.assertIn(what, said)
                if right is None:
                    self.assertTrue(said)
                else:
                    points[file] = right
        self.assertEqual({line["file"]: int(line["points"]) for line in lines}, points)
        self.assertIn("Not read", self.lines_of(graded.stdout, "dangling.json"))
        self.assertIn("a pipe or a device", self.lines_of(graded.stdout, "pipe.json"))
        self.assertEqual(self.lines_of(graded.stdout, "._plain-10.json"), "")
        self.assertEqual(self.lines_of(graded.stdout, "plain-10.json"), "")
        self.assertIn("  Missing Person (M-1), B\n", graded.stdout)
        # 75,000 wrong answers of one learner count once: those of 40 plain learners, and these.
        self.assertLess(int(re.search(r"\n    (\d+) × 289 ", graded.stdout).group(1)), 60)
        # Files for the platforms: a line for each of the roster who handed in, and nothing of those who aren't on it.
        canvas, moodle = ((self.out / name).read_text(encoding="utf-8") for name in ("canvas.csv", "moodle.csv"))
        self.assertTrue(canvas.startswith("Student,ID,SIS User ID,SIS Login ID,Section,"))
        for line in ("Points Possible,,,,,7", "Plain 58,,P-98,,B,5", '"10, Plain",,P-0,,A,5'):
            self.assertIn(f"\n{line}\n", canvas)
        self.assertNotIn("Missing Person", canvas)  # an empty field would take a grade away
        self.assertNotIn("Stranger", canvas)
        self.assertTrue(moodle.startswith("Full name,ID number,"))
        self.assertIn("\nPlain 58,P-98,5\n", moodle)
        self.assertIn("\n'=1+1,5,7,", written)
        # A page each, in which nothing of a name is markup.
        pages = [path.read_text(encoding="utf-8") for path in (self.out / "pages").iterdir()]
        self.assertEqual(len(pages), len(lines))
        self.assertFalse([page for page in pages if "<script" in page])


class Names(Folders):
    def test_pseudonyms_stay_the_same_and_no_name_is_printed(self):
        write(self.folder / "Ada.json", file_of("Ada", 1))
        write(self.folder / "Zoe.json", file_of("Zoe", 2))
        command = [self.folder, "--pseudonyms", self.out / "names.csv", "--csv", self.out / "points.csv"]
        first = grade(*command)
        self.assertEqual(first.returncode, 0, first.stderr)
        names = (self.out / "names.csv").read_text(encoding="utf-8")
        self.assertIn("Ada · seed 1\n", names)
        write(self.folder / "Ben.json", file_of("Ben", 3))
        second = grade(*command)
        for printed in (first.stdout, second.stdout, (self.out / "points.csv").read_text(encoding="utf-8")):
            for name in ("Ada", "Zoe", "Ben"):
                self.assertNotIn(name, printed)
        self.assertLess(set(names.splitlines()), set((self.out / "names.csv").read_text(encoding="utf-8").splitlines()))
        write(self.out / "names.csv", "Ada,1\n")
        self.assertEqual(grade(*command).returncode, 1)
        for other in ("--roster", "--canvas", "--moodle"):
            self.assertEqual(grade(self.folder, "--pseudonyms", self.out / "new.csv", other, self.out / "other.csv").returncode, 2)

    def roster_of(self, text):
        write(self.out / "roster.csv", text)
        return read_roster(str(self.out / "roster.csv"))

    def test_a_roster_is_read_as_canvas_and_moodle_export_it(self):
        canvas = self.roster_of("Student,ID,SIS User ID,SIS Login ID,Section,Quiz (12)\n    Points Possible,,,,,10\n"
                                '"Lovelace, Ada",71,S-1,ada@example.org,Morning,9\n')
        self.assertEqual(len(canvas.learners), 1)
        for name in ("Ada Lovelace", "ada lovelace", "Lovelace, Ada", "71", "s-1", "ada@example.org"):
            self.assertEqual(canvas.called(name), [0])
        self.assertEqual(canvas.called("Ada"), [])
        self.assertEqual(canvas.called("Points Possible"), [])
        moodle = self.roster_of("First name,Last name,ID number,Email address\nAda,Lovelace,S-1,ada@example.org\n")
        self.assertEqual(len(moodle.called("Ada Lovelace")), 1)
        for wrong, where in (("Quiz,Section\n1,2\n", "roster.csv:1: "), ("", "roster.csv:1: "), ("id,name\n1,Ada\n1,Ben\n", "roster.csv:3: "),
                             ('id,name\n1,"Ada\n', "roster.csv:2: "), ("id\0", "not a text")):
            with self.subTest(wrong), self.assertRaisesRegex(Problem, where):
                self.roster_of(wrong)
        self.assertEqual(self.roster_of("\ufeffid,name\r\n1,Ada\r\n").called("ada"), [0])

    def test_a_platforms_import_takes_no_grade_away_and_gives_none_to_another_learner(self):
        """What an import does with a field is read from the platforms' sources, which decoderscope/gradebook.py names."""
        write(self.folder / "a.json", file_of("ada@example.org", 1))

        def file(option, roster, status=0):
            write(self.out / "roster.csv", roster)
            done = grade(self.folder, "--roster", self.out / "roster.csv", option, self.out / "out.csv")
            self.assertEqual(done.returncode, status, done.stderr)
            return (self.out / "out.csv").read_text(encoding="utf-8")

        # Canvas': who handed nothing in has no line, since an empty field would take away what stands there.
        self.assertEqual(file("--canvas", "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
                              '"Lovelace, Ada",71,S-1,ada@example.org,Morning\nBen,72,S-2,ben@example.org,Morning\n'),
                         "Student,ID,SIS User ID,SIS Login ID,Section,Who may look at whom\nPoints Possible,,,,,7\n"
                         '"Lovelace, Ada",71,S-1,ada@example.org,Morning,5\n')
        # Columns as Canvas has them for a teacher who may not see SIS ids; the assignment is found by its number.
        self.assertEqual(file("--canvas", "LastName,FirstName,ID,SIS Login ID,Section,Who may look at whom (9)\n"
                              "Lovelace,Ada,71,ada@example.org,Morning,\n"),
                         "Student,ID,SIS Login ID,Section,Who may look at whom (9)\nPoints Possible,,,,7\n"
                         "Ada Lovelace,71,ada@example.org,Morning,5\n")
        # Moodle finds a learner by the column that is chosen at the import, and where that is empty, takes the line's points for the
        # learner before. So a column that isn't full isn't written.
        write(self.folder / "b.json", file_of("S-2", 2))
        self.assertEqual(file("--moodle", "First name,Last name,ID number,Email address\n"
                              "Ada,Lovelace,,ada@example.org\nBen,B,S-2,ben@example.org\nCy,C,,\n"),
                         "First name,Last name,Email address,Who may look at whom\nAda,Lovelace,ada@example.org,5\nBen,B,ben@example.org,5\n")
        # Neither is full: who is missing in the fuller one is left out, and named.
        write(self.folder / "c.json", file_of("Cy C", 3))
        self.assertNotIn("Ada", file("--moodle", "First name,Last name,ID number,Email address\n"
                                     "Ada,Lovelace,,ada@example.org\nBen,B,S-2,ben@example.org\nCy,C,S-3,\n", 1))
        # Nor is anybody left out in silence who gave no name.
        write(self.folder / "nameless.json", handin("masks", of_masks(5), "", 4))
        done = grade(self.folder, "--moodle", self.out / "out.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("out.csv: without (no name), of whom there is no id; expected one of each learner", done.stderr)
        (self.folder / "nameless.json").unlink()
        # Of two lessons, the one that a learner didn't hand in keeps the grade that the exported gradebook has.
        write(self.folder / "d.json", handin("weight", {}, "S-2", 2))
        self.assertEqual(file("--moodle", "First name,Last name,ID number,Manual item: A weight is a comparison (Real)\n"
                              "Ben,B,S-2,-\nCy,C,S-3,3.5\n"),
                         "First name,Last name,ID number,Manual item: A weight is a comparison (Real),Who may look at whom\n"
                         "Ben,B,S-2,0,5\nCy,C,S-3,3.5,5\n")

    def test_a_page_tells_what_was_answered_and_learned_in_the_lessons_language(self):
        answers = of_masks(4)
        answers["kept"] = [(number(289), BEGINNING, "")]
        write(self.folder / "a.json", handin("masks", answers, "Ada & Co", 1))
        for language, seen in (([], ["<html lang=\"en\">", "Ada &amp; Co · 4 of 7 answers right · handed in on 2026-03-02T12:00:00Z", "Question 1",
                                     "✗ 289 → Then there would be no mask.", "Not answered.", "✓ No: before the softmax −∞ takes its place"]),
                               (["--language", "zh_CN"], ["<html lang=\"zh-CN\">", "共 7 题，答对 4 题", "第 1 题", "未作答。"])):
            done = grade(self.folder, "--lesson", "masks", "--feedback", self.out / "pages", *language)
            self.assertEqual(done.returncode, 0, done.stderr)
            page = (self.out / "pages" / "masks-Ada-Co.html").read_text(encoding="utf-8")
            for text in seen:
                self.assertIn(text, page)
            self.assertNotIn("153", page.replace("153 cells", ""))  # the right answer to what wasn't solved isn't told


if __name__ == "__main__":
    unittest.main()
