"""For pytest: what a failing test knows of a decoder beside its report. Loaded by pytest wherever the package is installed.

    pytest --decoderscope-pages=FOLDER      a page of the viewer for each test that failed with Different, TEST.html
    pytest --decoderscope-markdown=FILE     a table for a pull request: the tests, causes and lines
    pytest --gradescope=results.json        points in Gradescope's form; part of them for the steps that agree

    @pytest.mark.points(5)                  how many points a test gives; 1 without it
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Generator
from typing import Any, Optional

import pytest

from .testing import Different


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("decoderscope")
    group.addoption("--decoderscope-pages", metavar="FOLDER", help="write a page of the viewer for each test that failed with Different")
    group.addoption("--decoderscope-markdown", metavar="FILE", help="write a table of the tests with causes and lines, as Markdown")
    group.addoption("--gradescope", metavar="FILE", help="write points as Gradescope reads them: results.json")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "points(number): how many points the test gives; 1 without it")
    config.pluginmanager.register(_Reports(config), "decoderscope-reports")


class _Reports:
    """What the options ask for, collected test by test and written when all have run."""

    def __init__(self, config: pytest.Config):
        self._pages, self._markdown, self._gradescope = (
            config.getoption(name) for name in ("decoderscope_pages", "decoderscope_markdown", "gradescope"))
        self._tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        report = (yield).get_result()
        if report.skipped or (report.when != "call" and report.passed):
            return
        error = call.excinfo.value if call.excinfo is not None else None
        different = error if isinstance(error, Different) else None
        marker = item.get_closest_marker("points")
        points = marker.args[0] if marker is not None and marker.args else 1
        reached = 1.0 if report.passed else different.reached if different is not None else 0.0
        text = "" if error is None else str(error)
        if different is not None and self._pages:
            page = _page(pathlib.Path(self._pages), item.nodeid, different)
            report.sections.append(("Decoderscope", page))
            text += "\n" + page
        self._tests[item.nodeid] = {"passed": report.passed, "points": points, "reached": reached, "text": text,
                                    "different": different}

    def pytest_sessionfinish(self) -> None:
        for path, write in ((self._markdown, _markdown), (self._gradescope, _gradescope)):
            if path:
                pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(path).write_text(write(self._tests), encoding="utf-8")


def _page(folder: pathlib.Path, test: str, different: Different) -> str:
    """Writes what was recorded, and says where it is: a page, or without the viewer the recording itself."""
    from .overlay import Problem
    from .viewer import save

    if different.recording is None:
        return "Nothing was recorded: give same_tensor a function instead of a tensor."
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", test)
    try:
        save(folder / f"{name}.html", different.recording)
        return f"What was computed: {folder / name}.html"
    except (Problem, FileNotFoundError):
        (folder / f"{name}.safetensors").write_bytes(different.recording.data)
        return f"What was computed: decoderscope open {folder / name}.safetensors"


def _markdown(tests: dict[str, dict[str, Any]]) -> str:
    passed = sum(test["passed"] for test in tests.values())
    rows = [f"**{passed} of {len(tests)} tests pass.**", "", "| test | | what it is | line |", "| --- | --- | --- | --- |"]
    for name, test in tests.items():
        different: Optional[Different] = test["different"]
        if test["passed"]:
            rows.append(f"| {_cell(name)} | ✓ | | |")
        elif different is None:
            rows.append(f"| {_cell(name)} | ✗ | {_cell(test['text'])} | |")
        else:
            what = different.causes[0] if different.causes else f"No cause is known: {different.first}"
            rows.append(f"| {_cell(name)} | ✗ | {_cell(what)} | {_code(different.line)} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    """The text's first line as a cell of a table."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    return re.sub(r"([|\\`*_<>\[\]])", r"\\\1", line)


def _code(line: str) -> str:
    return "`" + line.replace("`", "'").replace("|", "\\|") + "`" if line else ""


def _gradescope(tests: dict[str, dict[str, Any]]) -> str:
    return json.dumps({"tests": [{"name": name, "max_score": test["points"], "score": round(test["points"] * test["reached"], 4),
                                  "status": "passed" if test["passed"] else "failed", "output": test["text"]}
                                 for name, test in tests.items()]}, indent=1) + "\n"
