"""What the bundled models' train.py scripts share: the network, the loop that trains it, the files, the measures.

Import this package before torch: OpenBLAS reads the number of its threads once, and sums in another order where it has
more than one, so that a second run would not write the same bytes.
"""

import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

# The decoder itself is the one that the program's numbers are tested against.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "reference"))

import torch  # noqa: E402

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
