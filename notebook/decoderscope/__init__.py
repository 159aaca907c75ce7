"""Decoderscope in a notebook: what a Transformer decoder computes, under the cell, every number explained.

    import decoderscope as ds

    ds.show(model, tokens)              # records the forward pass, and shows it
    ds.show("trace.safetensors")        # a recording, a session (.dscope), a link (#s1=…)
    ds.compare(mine, theirs, tokens)    # the first difference, and all others
    ds.bisect(mine, theirs, tokens)     # as a result: ok, first, cell, line, causes, text; ds.assert_same in a test
    ds.save("page.html", model, tokens) # one file that works without a network
    ds.open(model, tokens)              # in the desktop program, otherwise in a browser
    run = ds.record(model, tokens)      # the tensors, by name
    ds.rows(run, {"most": "lm_head.out.max()"})     # more of them, by formulas; show and save take rows= as well
    ds.chat("folder", messages)         # as its chat template writes them: whose each token is, labels, losses
    ds.write_it("softmax", function)    # a step of a decoder, written by you: judged number by number
    with ds.Training(model, optimizer) as mine: …   # a training; ds.part(mine.recording, theirs): where two part

decoderscope.testing has what a test of a function or a decoder says; decoderscope.plugin is pytest's.

Needs Python 3.9. torch is needed to record, IPython to show something under a cell, and neither for the rest.
"""

from .bisection import Result, assert_same, bisect
from .chat import Chat, chat
from .overlay import Problem
from .recording import Recording, record
from .rows import rows
from .training import Parted, Training, part
from .viewer import View, compare, open, save, show, viewer
from .writing import Judgement, write_it

__all__ = ["Chat", "Judgement", "Parted", "Problem", "Recording", "Result", "Training", "View", "assert_same", "bisect", "chat",
           "compare", "open", "part", "record", "rows", "save", "show", "viewer", "write_it"]

try:
    from .version import VERSION as __version__  # written by scripts/wheel.sh
except ImportError:
    __version__ = "0+source"
