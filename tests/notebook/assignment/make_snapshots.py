"""Writes what the right solution computes: make_snapshots.py FOLDER"""

import pathlib
import sys

import numpy
import solution
import test_assignment


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, arguments, of, **operands):
        numpy.savez(folder / f"{name}.npz", getattr(solution, name)(*arguments))

    test_assignment.check = write
    for name, test in vars(test_assignment).items():
        if name.startswith("test_"):
            test()


if __name__ == "__main__":
    main()
