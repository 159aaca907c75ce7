"""The viewer: under a cell, in a file of its own, or the desktop program."""

from __future__ import annotations

import base64
import functools
import gzip
import html
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import webbrowser
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from .bisection import Result, bisect, run_on, seen_settings
from .overlay import Problem, overlay_of, overlay_table, place_in
from .picture import still_picture
from .recording import Recording, record
from .rows import edits_of

if TYPE_CHECKING:
    import torch

    What = Union["torch.nn.Module", Recording, str, os.PathLike[str]]
    Notes = Mapping[str, str]
    Overlay = Union[Mapping[str, Union[float, tuple[float, str]]], str, os.PathLike[str]]

# What the output of one cell may add to the notebook's file.
STORED_BYTES = 2_000_000
# What a page of its own may hold.
PAGE_BYTES = 500_000_000
_DAY = 24 * 60 * 60


class View:
    """What a person does with what is shown. Filled where the notebook has a channel to the kernel (Jupyter Notebook).

    selected   {"step": "blocks.0.attn.pattern", "cell": [0, 2, 3, 1] or None}; None before anything was shown
    edits      the edits, a sentence each
    result     what compare() found outside a notebook, as bisect() returns it
    """

    def __init__(self, identity: str):
        self._id = identity
        self._comm: Any = None
        self.selected: Optional[dict[str, Any]] = None
        self.edits: list[str] = []
        self.result: Optional[Result] = None

    def go(self, step: str, cell: Optional[Sequence[int]] = None, head: Optional[int] = None) -> None:
        """Goes to a step by its name; to a number of it by its indices; to a head of a tensor [batch, head, query, key]."""
        if self._comm is None:
            raise Problem("this notebook has no channel to what is shown; click the step there")
        if cell is None and head is not None:
            cell = (0, head, 0, 0)
        self._comm.send({"go": step if cell is None else f"{step}[{', '.join(str(int(index)) for index in cell)}]"})

    def _connect(self, comm: Any) -> None:
        self._comm = comm
        comm.on_msg(self._hear)

    def _hear(self, message: dict[str, Any]) -> None:
        shows = message["content"]["data"].get("shows")
        if isinstance(shows, dict):
            self.selected = {"step": shows.get("step"), "cell": shows.get("cell")}
            self.edits = list(shows.get("edits") or [])


def show(what: What, *inputs: Any, height: int = 600, stored: int = STORED_BYTES, notes: Optional[Notes] = None,
         overlay: Optional[Overlay] = None, rows: Optional[Mapping[str, str]] = None, **arguments: Any) -> View:
    """Shows a forward pass under the cell: of a model that is run on these inputs, or one that was recorded before.

    what      a torch.nn.Module (inputs follow), a Recording, the path of a recording or session, or a link (#s1=…)
    height    in pixels
    stored    how many bytes of it are stored in the notebook at most; what doesn't fit is left out, and said
    notes     sentences by what they are pinned to: {"h.0.attn/softmax/out": "a tensor", "lm_head/out[0, 3, 2]": "a cell"}
    overlay   numbers that colour map and timeline: {"h.0.attn/softmax/out": 3.2, "h.1": (0.4, "with a text")}, by a
              tensor, a module or a cell; or the path of a file of such numbers (CSV: NAME, value, text; or JSON)
    rows      formulas of what was recorded, as more tensors: {"h.0.attn.sharpness": "softmax.out.max(-1).values"} (rows())

    Other arguments are record()'s (gradients=True) and the model's.

    Without a notebook, it is opened as open() does. Problem if there is no display for that.
    """
    return _show_content(_Content(what, inputs, arguments, stored, notes, overlay, rows), height)


def compare(mine: What, reference: What, *inputs: Any, height: int = 600, stored: int = 2 * STORED_BYTES,
            tolerance: Optional[float] = None, **arguments: Any) -> View:
    """Bisects under the cell: where `mine` first differs from `reference` on the same inputs, and what the cause is.

    mine, reference   each a torch.nn.Module, a Recording, or the path of a recording
    tolerance         relative to a tensor's largest magnitude; 1e-4 unless given, and more in half precision

    The reference is computed again from the parameters that were recorded. Where it can't be, because its architecture
    isn't known or the parameters don't fit into `stored` bytes, the tensors of one name are compared, and differences of
    more than `tolerance`, or 1e-5, are shown. With the desktop program installed, what was found also stands there as text.

    Without a notebook, what bisect() finds is printed.

    Other arguments are record()'s (gradients=True) and the models'.
    """
    if _notebook() is None:
        view = View("")
        view.result = bisect(mine, reference, *inputs, tolerance=tolerance, **arguments)
        print(view.result.text, end="")
        return view
    return _show_content(_compared(mine, reference, inputs, arguments, stored, tolerance), height)


def _show_content(content: _Content, height: int) -> View:
    identity = "decoderscope-" + uuid.uuid4().hex
    view = View(identity)
    shell = _notebook()
    if shell is None:
        _open_content(content)
        return view
    from IPython.display import HTML, display

    _listen(shell, view)
    viewer()
    display(HTML("".join(content.cell(identity, height))))
    return view


def viewer() -> None:
    """Moves the viewer into the cell's output, as show() and compare() do. A kernel isn't told which outputs are still in the
    notebook: in the one that was made last it is there, and there once. Call it before the notebook is stored if you deleted
    the cell that showed something last."""
    from IPython.display import HTML, display

    shell = _notebook()
    before = getattr(shell, "decoderscope_viewer", None)
    if before is not None and "google.colab" not in sys.modules:  # there, no output sees another one's
        before.update(HTML(""))
    moved = display(HTML(_viewer_script()), display_id=True)
    if shell is not None:
        shell.decoderscope_viewer = moved


def save(path: Union[str, os.PathLike[str]], what: What, *inputs: Any, height: int = 900, stored: int = PAGE_BYTES,
         notes: Optional[Notes] = None, overlay: Optional[Overlay] = None, rows: Optional[Mapping[str, str]] = None,
         **arguments: Any) -> None:
    """Writes one HTML file that shows a forward pass without a network. `what`, `notes`, `overlay` and `rows` as for show(). Problem
    before anything is written if what was recorded has more than `stored` bytes: the page takes a third more."""
    path = pathlib.Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise Problem(f"{path}: save writes a page, expected a name that ends in .html; "
                      "ds.record(…).data holds the bytes of a .safetensors file")
    content = _Content(what, inputs, arguments, None, notes, overlay, rows)
    size = sum(len(data) for data in content.files.values())
    if size > stored:
        raise Problem(f"{path}: {size / 1e6:.3g} MB were recorded, expected at most {stored / 1e6:.3g} MB in a page; record fewer "
                      "modules (modules=[…]), leave the weights out (parameters=False), or allow more (stored=…)")
    beside = path.with_name(path.name + ".writing")
    try:
        _write_page(beside, content, height)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def open(what: What, *inputs: Any, **arguments: Any) -> None:
    """Opens a forward pass in the desktop program if it is installed, else in a browser. `what` as for show(). Problem if
    there is no display."""
    _open_content(_Content(what, inputs, arguments, None))


# ---- what is shown


class _Content:
    """The files, or the link, that the viewer is handed."""

    def __init__(self, what: What, inputs: tuple[Any, ...], arguments: dict[str, Any], limit: Optional[int],
                 notes: Optional[Notes] = None, overlay: Optional[Overlay] = None, rows: Optional[Mapping[str, str]] = None):
        self.link, self.files, self.left_out = "", dict[str, bytes](), list[str]()
        self.models: list[str] = []  # one of these is what the viewer shows then
        self.notes: list[dict[str, str]] = []
        self.overlay: Optional[dict[str, Any]] = None  # as a session holds it
        self.found = ""  # what is said beside it
        self.recording: Optional[Recording] = None
        if isinstance(what, str) and what.startswith("#"):
            self.link = what
            self.models = _models_of(_of_link(what))
        elif isinstance(what, (str, os.PathLike)):
            self._take_file(pathlib.Path(what), limit)
        else:
            self._take(what if isinstance(what, Recording) else record(what, *inputs, **arguments), limit)
        if notes or overlay or rows:
            self._annotate(notes or {}, overlay, rows or {})

    def _annotate(self, notes: Notes, overlay: Optional[Overlay], rows: Mapping[str, str]) -> None:
        """A session beside the recording holds what is pinned to it, the numbers that colour it, and the rows added to it."""
        if self.recording is None:
            raise Problem("notes, overlay, rows: expected a model or a recording that they belong to; a session has its own")
        session: dict[str, Any] = {"format": "decoderscope-session", "version": 1,
                                   "model": {"path": next(iter(self.files)), "trace": True}}
        self.notes = [{"at": place_in(self.recording, place), "text": str(text)} for place, text in notes.items()]
        if self.notes:
            session["notes"] = self.notes
        if rows:
            session["edits"] = edits_of(rows)
        if overlay:
            self.overlay = session["overlay"] = overlay_of(overlay, self.recording)
        self.files = {"notes.dscope": json.dumps(session).encode(), **self.files}

    def _take_file(self, path: pathlib.Path, limit: Optional[int]) -> None:
        if not path.is_file():
            raise Problem(f"{path}: no such file")
        data = path.read_bytes()
        try:
            self._take(Recording(data, path.name), limit)
        except ValueError:
            if limit is not None and len(data) > limit:
                raise Problem(f"{path}: {len(data)} bytes, expected at most {limit} in a cell; ds.open shows it all, "
                              "and stored=… allows more") from None
            self.files[path.name] = data
            self.models = _models_of(data) if path.suffix == ".dscope" else [path.name]

    def _take(self, recording: Recording, limit: Optional[int]) -> None:
        self.recording = recording
        if limit is not None:
            recording, self.left_out = recording.within(limit * 3 // 4)  # base64 takes a third more
        self.files[recording.name] = recording.data
        self.models = [recording.name]

    def cell(self, identity: str, height: int) -> Iterator[str]:
        """The output of a cell, in pieces: a still picture and a table, replaced by the viewer where scripts run."""
        code = pathlib.Path(__file__).with_name("cell.js").read_text(encoding="utf-8").rstrip()
        found = f"<pre>{html.escape(self.found)}</pre>" if self.found else ""
        models = html.escape(json.dumps(self.models))
        yield (f'<div id="{identity}" class="decoderscope" data-link="{html.escape(self.link)}" data-models="{models}">'
               f'<div class="decoderscope-stage">{self._still()}</div><p class="decoderscope-say" role="status"></p>{found}')
        for name, data in self.files.items():
            yield f'<script type="application/octet-stream" data-file="{html.escape(name)}">'
            yield from _pieces(data)
            yield "</script>"
        yield f'</div>\n<script>{code}({identity!r}, {int(height)});</script>\n'

    def _still(self) -> str:
        said = f"<p>{html.escape(self._sentence())}</p>"
        if self.overlay:
            said += f"<p>Coloured by {html.escape(self.overlay['name'])}:</p>" + overlay_table(self.overlay)
        if self.notes:
            items = "".join(f"<li><code>{html.escape(note['at'])}</code>: {html.escape(note['text'])}</li>" for note in self.notes)
            said += f"<ul>{items}</ul>"
        return said + still_picture(self.recording) if self.recording is not None else said

    def _sentence(self) -> str:
        if self.recording is None:
            return "Decoderscope shows it here where scripts run."
        what = f"A forward pass of {self.recording.metadata.get('module', 'a model')}: {len(self.recording)} tensors"
        if not self.left_out:
            return what + "."
        return f"{what}, of which {len(self.left_out)} are not stored here: record again to see them."


def _compared(mine: What, reference: What, inputs: tuple[Any, ...], arguments: dict[str, Any], limit: int,
              tolerance: Optional[float]) -> _Content:
    """A session that bisects, and one that compares by names where that one can't be opened; with both recordings."""
    content = _Content(mine, inputs, arguments, None)
    other = _Content(reference, inputs, arguments, None)
    if content.recording is None or other.recording is None:
        raise Problem("compare: expected two models or two recordings")
    content.found = _found_by_desktop(content.recording, other.recording, tolerance)
    half = limit // 2 * 3 // 4  # base64 takes a third more
    model, left_of_model = other.recording.within(half, as_model=True)
    by_name, left_of_mine = content.recording.within(half)
    bisects = any(name.startswith("param/") for name in model) and not any(name.startswith("param/") for name in left_of_model)
    if bisects:
        by_name, left_of_mine = content.recording.without_parameters().within(half)
    else:
        model, left_of_model = other.recording.within(half)
    against: dict[str, Any] = {"file": "mine.safetensors"}
    if tolerance is not None:
        against["bisect"] = {"tolerance": tolerance}
    sessions = {}
    if bisects:
        sessions[_BISECTION] = _session({"path": "reference.safetensors"}, {"with": "bisect", **against}, seen_settings(other.recording))
    sessions[_COMPARISON] = _session({"path": "mine.safetensors", "trace": True},
                                     {"with": "file", "file": "reference.safetensors", "tolerance": tolerance or 1e-5})
    content.files = {**sessions, "mine.safetensors": by_name.data, "reference.safetensors": model.data}
    content.models = ["mine.safetensors", "reference.safetensors"]
    content.left_out = left_of_mine + left_of_model
    return content


def _of_link(link: str) -> bytes:
    """The session in a link (docs/browser.md); empty if there is none."""
    try:
        return zlib.decompress(base64.urlsafe_b64decode(link.partition("=")[2] + "=="))
    except (ValueError, zlib.error):
        return b""


def _models_of(session: bytes) -> list[str]:
    """The name of the session's model; none if it has none, which the viewer says."""
    try:
        model = json.loads(session)["model"]
        return [os.path.basename(model.get("path") or model["bundled"])]
    except (ValueError, LookupError, TypeError, AttributeError):
        return []


_BISECTION, _COMPARISON = "bisection.dscope", "comparison.dscope"


def _session(model: dict[str, Any], against: dict[str, Any], settings: Optional[dict[str, str]] = None) -> bytes:
    session = {"format": "decoderscope-session", "version": 1, "model": model, "tab": "diff", "compare": against}
    if settings:
        session["set"] = settings
    return json.dumps(session).encode()


def _found_by_desktop(mine: Recording, reference: Recording, tolerance: Optional[float]) -> str:
    """What `decoderscope compare` says of two recordings; empty where it isn't installed."""
    program = shutil.which("decoderscope")
    if program is None:
        return ""
    try:
        done = run_on(program, {"mine.safetensors": mine.data, "reference.safetensors": reference.data},
                      ["compare", "reference.safetensors", "mine.safetensors", "--markdown"], tolerance, seconds=120)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.replace("\\", "")


def _pieces(data: bytes) -> Iterator[str]:
    """These bytes as base64, a few MB at a time, so that a long recording is written without a second copy of it."""
    piece = 3 << 20
    for begin in range(0, len(data), piece):
        yield base64.b64encode(memoryview(data)[begin:begin + piece]).decode()


def _viewer_page() -> str:
    """The viewer: in the wheel beside this file, in the repository where scripts/browser.sh makes it."""
    here = pathlib.Path(__file__).parent
    for path in (here / "viewer.html", here.parent.parent / "build" / "browser" / "viewer.html"):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise Problem("the viewer has not been built: run scripts/wheel.sh, and install what it makes")


@functools.lru_cache(maxsize=1)
def _viewer_script() -> str:
    packed = gzip.compress(_viewer_page().encode(), 9, mtime=0)
    return f'<script type="application/octet-stream" data-decoderscope-viewer="1">{"".join(_pieces(packed))}</script>\n'


def _write_page(path: pathlib.Path, content: _Content, height: int) -> None:
    """A page of its own, with the viewer and what it shows."""
    with path.open("w", encoding="utf-8") as page:
        page.write("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                   "<meta name=\"color-scheme\" content=\"light dark\"><title>Decoderscope</title></head><body>\n")
        page.write(_viewer_script())
        page.writelines(content.cell("decoderscope", height))
        page.write("</body></html>\n")


_OPENED = "decoderscope-opened-"


def _remove_what_was_opened_before() -> None:
    """A program or a browser reads what it is handed after open() has returned, so that a folder stays for a day."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(_OPENED + "*"):
        try:
            if time.time() - folder.stat().st_mtime > _DAY:
                shutil.rmtree(folder)
        except OSError:  # another person's
            pass


def _open_content(content: _Content) -> None:
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Problem("there is no display to open it on; ds.save writes it as a page, and ds.bisect says what differs")
    program = shutil.which("decoderscope")
    _remove_what_was_opened_before()
    folder = tempfile.mkdtemp(prefix=_OPENED)
    if program is None:
        page = pathlib.Path(folder) / "page.html"
        _write_page(page, content, 900)
        webbrowser.open(page.as_uri())
        return
    paths = []
    for name, data in content.files.items():
        paths.append(os.path.join(folder, name))
        pathlib.Path(paths[-1]).write_bytes(data)
    if content.link:
        subprocess.Popen([program, content.link])
    else:  # a session knows the files beside it
        subprocess.Popen([program, *([] if paths[0].endswith(".dscope") else ["open"]), paths[0]])


# ---- the notebook


def _notebook() -> Any:
    """The notebook's shell; None in a plain script or a terminal."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None


def _listen(shell: Any, view: View) -> None:
    views = getattr(shell, "decoderscope_views", None)
    if views is None:
        views = shell.decoderscope_views = {}
        manager = getattr(shell.kernel, "comm_manager", None)
        if manager is not None:
            manager.register_target("decoderscope", lambda comm, opened: _connect(views, comm, opened))
    views[view._id] = view


def _connect(views: dict[str, View], comm: Any, opened: dict[str, Any]) -> None:
    view = views.get(opened["content"]["data"].get("view"))
    if view is not None:
        view._connect(comm)
