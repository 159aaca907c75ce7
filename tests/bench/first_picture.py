"""How long the program takes from its start to its first picture, beside `python3 -c "import torch"`, in turn:
python3 first_picture.py PROGRAM [open TRACE] [--rounds N]

Needs a display (or Xvfb, which it then starts) and a C compiler: a few lines stand in for glfwSwapBuffers and end the
program where the first picture would be shown.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENDS_AT_FIRST_PICTURE = """
#include <unistd.h>
void glfwSwapBuffers(void *window) { (void)window; _exit(0); }
"""


def seconds(command, **options):
    start = time.perf_counter()
    subprocess.run(command, check=True, **options)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*", help="for the program: open TRACE")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    program = [str(Path(options.program).resolve()), *options.arguments]
    if "DISPLAY" not in os.environ and "WAYLAND_DISPLAY" not in os.environ:
        program = [shutil.which("xvfb-run"), "-a", "-s", "-screen 0 1280x800x24", *program]
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "first_picture.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=ENDS_AT_FIRST_PICTURE, text=True,
                       check=True)
        ours = {**os.environ, "LD_PRELOAD": str(library), "HOME": scratch, "XDG_CONFIG_HOME": scratch}
        times = {"first picture": [], "import torch": []}
        for _ in range(options.rounds):
            times["first picture"].append(seconds(program, env=ours))
            times["import torch"].append(seconds([sys.executable, "-c", "import torch"]))
    for name, values in times.items():
        print(f"{name}: {statistics.median(values):.2f} s, median of {len(values)}")


main()
