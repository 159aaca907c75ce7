"""What a change costs: two builds of the program in turn, on what against_torch.py measures:
python3 two_builds.py BEFORE AFTER [--rounds N] [--only PART]

Forward passes, forward and backward, edits, mixtures of experts, a step of training, and the start. Which of the two is first
changes from round to round. Medians, and their ratio; above 1 the later is slower.
"""

import argparse
import json
import resource
import statistics
import tempfile
from pathlib import Path

import against_torch  # first: it starts anew with the fastest BLAS
import mixtures
import torch
import train_step
from cases import BACKWARD, CASES, EDITED, EDITS
from chart import milliseconds
from config import complete
from random_weights import random_weights, write_model

STARTS = {"start": ["--version"], "start and a first pass": ["bench", "verses", "--text", "a b", "--repeat", "1"]}


def processor_time(work):
    """Milliseconds that this process' children computed for."""
    def used():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = used()
    for _ in range(10):
        work()
    return 100 * (used() - before)


def cases(scratch):
    """Each case's name, and a function of the program that measures it once, in milliseconds."""
    for name, (config, _, _) in CASES.items():
        task = against_torch.prepared("", scratch / name, name)

        def run(program, key, *options):
            task.program = program
            return task.milliseconds(*options)[key]

        repeat = 9 if config["d_model"] == 768 else 100
        yield name, lambda program: run(program, "forward_ms", repeat)
        if name in BACKWARD:
            yield f"{name}, forward and backward", lambda program: run(program, "with_gradients_ms", 5, "--gradients-of", "loss")
        file = scratch / "edits.json"
        for edit_name, (edit, _) in EDITS.items() if name == EDITED else ():
            file.write_text(json.dumps([edit]))
            yield f"edit: {edit_name}", lambda program: run(program, "edit_ms", 9, "--edits", file)

    for experts in mixtures.EXPERTS:
        config, folder = {**mixtures.MIXTURE, "experts": experts}, scratch / f"experts-{experts}"
        write_model(folder, config, random_weights(complete(config)))
        task = against_torch.Ours("", folder, {"tokens": torch.randint(1000, (1, mixtures.TEXT))})
        yield f"2 of {experts} experts", lambda program: run(program, "forward_ms", 9)

    train_step.write_task(scratch / "training", 60)
    yield "a step of training", lambda program: statistics.median(train_step.our_steps(program, scratch / "training", 60)[1])
    for name, command in STARTS.items():
        yield f"{name}, of the processor", lambda program: processor_time(lambda: mixtures.ran(program, *command))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    options = parser.parse_args()
    programs = [str(Path(program).resolve()) for program in (options.before, options.after)]
    against_torch.heading("", "before", "after", "ratio")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, measure in cases(scratch):
            if options.only not in name:
                continue
            times = {program: [] for program in programs}
            for turn in range(options.rounds):
                for program in programs if turn % 2 == 0 else reversed(programs):
                    times[program].append(measure(program))
            before, after = (statistics.median(times[program]) for program in programs)
            against_torch.row([name, milliseconds(before), milliseconds(after), f"**{after / before:.3f}**"])


if __name__ == "__main__":
    main()
