"""Decoderscope and PyTorch in turn, on the same weights and inputs: python3 against_torch.py PROGRAM [--rounds N]
[--only PART] [--peak BENCH_PEAK] [--products BENCH_PRODUCTS] [--json FILE]

One table: passes of cases.py, forward and backward, a step of training (train_step.py), mixtures of experts and a latent cache
(mixtures.py), with our time, PyTorch's, and the practical limit. Then what the passes consist of, and what an edit and memory
cost, of GPT-2-small.

Before anything is timed, both must give the same numbers. Then they take turns: a round of the one, a round of the
other, so that whatever else the machine does meets both. PyTorch is given its best: two threads that don't fight (on
Debian that needs libopenblas0-openmp), the fastest of OpenBLAS' kernels (best_blas.py), fused projections, inference
mode; the quickest of eager, traced and oneDNN's products counts. Medians, and the ratio of the medians; below 1 is in
our favour. The practical limit (practical.py) is the time of the same products by the best library alone, and one writing
of what we record.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import best_blas

BLAS = best_blas.use_fastest()  # starts anew: OpenBLAS reads its choice once, when it is loaded
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import safetensors_file  # noqa: E402
from cases import BACKWARD, CASES, EDITED, EDITS, EXPERTS, MEMORY, TRAINING_STEP  # noqa: E402
from chart import milliseconds  # noqa: E402
from config import complete  # noqa: E402
from mixtures import measure_experts  # noqa: E402
from practical import practical_limit, practical_limit_both_ways  # noqa: E402
from random_weights import random_weights, write_model  # noqa: E402
from torch_decoder import FastDecoder, OneDnnDecoder  # noqa: E402
from train_step import measure_step  # noqa: E402
from work import least_milliseconds  # noqa: E402


best_blas.check_products()


class Ours:
    """The program, on a model and an input in files."""

    def __init__(self, program, folder, inputs):
        self.program, self.folder = program, folder
        self.inputs = folder / "inputs.safetensors"
        safetensors_file.save(self.inputs, {name: x.numpy() for name, x in inputs.items()})

    def run(self, command, *options):
        whole = [self.program, command, str(self.folder), "--inputs", str(self.inputs), *map(str, options)]
        return subprocess.run(whole, check=True, capture_output=True, text=True).stdout

    def output(self):
        out = self.folder / "trace.safetensors"
        self.run("trace", "--out", out)
        trace = safetensors_file.load(out)
        out.unlink()
        last = [name for name in trace if name == "logits"] or [name for name in trace if name != "probs"][-1:]
        return torch.from_numpy(trace[last[0]])

    def milliseconds(self, repeat, *options):
        return json.loads(self.run("bench", "--repeat", repeat, "--json", *options))

    def watched(self, *options):
        """What bench measures, and the peak of its memory in bytes, as the system counts it while the program is there."""
        command = [self.program, "bench", str(self.folder), "--inputs", str(self.inputs), "--json", *map(str, options)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        status = Path(f"/proc/{child.pid}/status")
        peak = 0
        while child.poll() is None:
            for line in status.read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak = max(peak, 1024 * int(line.split()[1]))
            time.sleep(0.002)
        assert child.returncode == 0, "the program failed"
        return json.loads(child.stdout.read()), peak

    def peak_memory(self):
        """Of a few runs, everything recorded."""
        return self.watched("--repeat", 5)[1]

    def weight_bytes(self):
        return (self.folder / "model.safetensors").stat().st_size


class Theirs:
    """PyTorch, plain or keeping what we record."""

    def __init__(self, config, weights, inputs):
        self.model, self.inputs = FastDecoder(complete(config), dict(weights)), inputs
        self.onednn = OneDnnDecoder(complete(config), dict(weights)) if torch.backends.mkldnn.is_available() else None
        with torch.inference_mode():
            names = list(inputs)
            self.tensors = tuple(inputs.values())
            try:
                self.traced = torch.jit.trace(lambda *xs: self.model(dict(zip(names, xs))), self.tensors,
                                              check_trace=False)
            except Exception as problem:  # then eager alone counts
                print("not traced:", problem, file=sys.stderr)
                self.traced = None

    def plain(self):
        return self.model(self.inputs)

    def by_trace(self):
        return self.traced(*self.tensors)

    def by_onednn(self):
        return self.onednn(self.inputs)

    def keeping(self):
        kept = []
        return self.model(self.inputs, lambda *tensors: kept.extend(tensors)), kept

    def milliseconds(self, work, repeat):
        times = []
        with torch.inference_mode():
            work()
            for _ in range(repeat):
                start = time.perf_counter()
                work()
                times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)


def check_agreement(ours, theirs):
    with torch.inference_mode():
        expected = theirs.plain()
        if theirs.onednn is not None:
            assert torch.allclose(theirs.by_onednn(), expected, rtol=1e-4, atol=1e-4), "oneDNN differs from the BLAS"
    difference = (ours.output() - expected).abs().max() / expected.abs().max()
    assert difference < 2e-5, f"the outputs differ by {difference:.1e} of their scale"
    return difference.item()


def repeats(first_ms):
    """As many as fit in about a second, and some in any case."""
    return int(max(5, min(400, 1000 / first_ms)))


def measure(program, folder, config, make_inputs, rounds, peak, products):
    inputs = make_inputs(torch.Generator().manual_seed(1))
    weights = random_weights(config)
    write_model(folder, config, weights)
    ours, theirs = Ours(program, folder, inputs), Theirs(config, weights, inputs)
    result = {"difference": check_agreement(ours, theirs)}
    works = {"eager": theirs.plain, "keeping": theirs.keeping}
    if theirs.traced is not None:
        works["traced"] = theirs.by_trace
    if theirs.onednn is not None:
        works["onednn"] = theirs.by_onednn
    repeat = repeats(theirs.milliseconds(theirs.plain, 3))
    times = {name: [] for name in [*works, "ours", "unrecorded"]}
    for _ in range(rounds):
        measured = ours.milliseconds(repeat)
        times["ours"].append(measured["forward_ms"])
        times["unrecorded"].append(measured["unrecorded_ms"])
        for name, work in works.items():
            times[name].append(theirs.milliseconds(work, repeat))
    medians = {name: statistics.median(values) for name, values in times.items()}
    quickest = min((name for name in works if name != "keeping"), key=medians.get)
    limit = practical_limit(config, weights, inputs, measured["recorded_bytes"], products)
    result.update(medians, plain=medians[quickest], quickest=quickest, **limit)
    if peak is not None:
        result["least"] = least_milliseconds(config, inputs, measured["recorded_bytes"], peak)
    return result


def prepared(program, folder, case):
    config, make_inputs, _ = CASES[case]
    write_model(folder, config, random_weights(config))
    return Ours(program, folder, make_inputs(torch.Generator().manual_seed(1)))


def measure_edits(program, scratch, rounds):
    """The answer to each edit as a ratio to the full run, both from the same process."""
    ours = prepared(program, scratch / "edited", EDITED)
    results = {}
    heading("edit", "a full pass", "until the last row of the logits", "ratio", "wanted", "all of it", "ratio")
    for name, (edit, wanted) in EDITS.items():
        file = scratch / "edits.json"
        file.write_text(json.dumps([edit]))
        all_rounds = [ours.milliseconds(9, "--edits", file) for _ in range(rounds)]
        r = {key: statistics.median(each[key] for each in all_rounds)
             for key in ("forward_ms", "edit_ms", "edit_complete_ms")}
        results[name] = r
        row([name, milliseconds(r["forward_ms"]), milliseconds(r["edit_ms"]), f"**{r['edit_ms'] / r['forward_ms']:.2f}**",
             f"{wanted:.2f}", milliseconds(r["edit_complete_ms"]), f"{r['edit_complete_ms'] / r['forward_ms']:.2f}"])
    return results


def their_backward(decoder, inputs, parameters):
    """Forward and backward by autograd, which keeps the gradients of the parameters alone. The loss is that of each token
    given those before it."""
    for parameter in parameters:
        parameter.grad = None
    logits = decoder(inputs)
    F.cross_entropy(logits[:, :-1].flatten(0, 1), inputs["tokens"][:, 1:].flatten()).backward()


def measure_backward(program, folder, case, rounds, products):
    """Forward and backward, ours with the gradient of every tensor kept."""
    config, make_inputs, _ = CASES[case]
    weights, inputs = random_weights(config), make_inputs(torch.Generator().manual_seed(1))
    write_model(folder, config, weights)
    ours = Ours(program, folder, inputs)
    theirs = FastDecoder(complete(config), dict(weights))
    leaves = [weight.requires_grad_() for weight in theirs.w.values()]
    their_backward(theirs, inputs, leaves)
    our_times, their_times = [], []
    for _ in range(rounds):
        measured = ours.milliseconds(5, "--gradients-of", "loss")
        our_times.append(measured["with_gradients_ms"])
        for _ in range(5):
            start = time.perf_counter()
            their_backward(theirs, inputs, leaves)
            their_times.append(1e3 * (time.perf_counter() - start))
    weights = {name: weight.detach() for name, weight in weights.items()}
    limit = practical_limit_both_ways(config, weights, inputs, measured["recorded_bytes"], products)
    return {"ours": statistics.median(our_times), "theirs": statistics.median(their_times), "limit": limit}


def measure_memory(program, scratch):
    results = {}
    heading("", "weights", "trace", "peak", "ratio", "wanted")
    for case in MEMORY:
        ours = prepared(program, scratch / case, case)
        trace = ours.milliseconds(1)["recorded_bytes"]
        weights, peak = ours.weight_bytes(), ours.peak_memory()
        results[case] = {"weights": weights, "trace": trace, "peak": peak}
        row([case, f"{weights / 1e6:.0f} MB", f"{trace / 1e6:.0f} MB", f"{peak / 1e6:.0f} MB",
             f"**{peak / (weights + trace):.2f}**", "1.10"])
    return results


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def heading(*cells):
    print()
    row(cells)
    row(["---"] * len(cells))


def print_measured(name, ours, theirs, how, limit, wanted):
    """A line of the table that compares us with PyTorch and with the practical limit; all times in milliseconds."""
    limit, part = (milliseconds(limit), f"{limit / ours:.2f}") if limit else ("–", "–")
    row([name, milliseconds(ours), f"{milliseconds(theirs)} ({how})", limit, f"**{ours / theirs:.2f}**", f"{wanted:.2f}", part])


def print_passes(passes, peak):
    """What else is known of the passes."""
    heading("", "PyTorch, keeping what we record", "ours to that", "recorded to not recorded", "best library's products to ours",
            *(["fraction of the peak"] if peak else []))
    for name, r in passes.items():
        row([name, milliseconds(r["keeping"]), f"{r['ours'] / r['keeping']:.2f}", f"{r['ours'] / r['unrecorded']:.2f}",
             f"{r['products']:.2f}" if r["products"] else "–", *([f"{r['least'] / r['ours']:.2f}"] if peak else [])])


def compare(options, scratch, peak):
    """The table, a line as soon as it is measured, and one of the passes alone. Returns their results by name."""
    heading("", "ours, recorded", "PyTorch, at its best", "practical limit", "ratio to PyTorch", "wanted", "limit to ours")
    results, wants = {}, lambda name: options.only in name
    for number, (name, (config, make_inputs, wanted)) in enumerate(CASES.items()):
        if not wants(name):
            continue
        r = measure(options.program, scratch / str(number), config, make_inputs, options.rounds, peak, options.products)
        results[name] = {**r, "wanted": wanted}
        print_measured(name, r["ours"], r["plain"], r["quickest"], r["limit"], wanted)
    passes = dict(results)
    for case, wanted in BACKWARD.items() if wants("backward") else ():
        r = measure_backward(options.program, scratch / "backward", case, options.rounds, options.products)
        results["backward"] = {**r, "wanted": wanted}
        print_measured(f"{case}, forward and backward", r["ours"], r["theirs"], "the parameters' gradients", r["limit"], wanted)
    if wants("training"):
        times = measure_step(options.program, scratch / "training", options.rounds, 60)
        ours = times.pop("ours")
        threads, theirs = min(times.items(), key=lambda entry: entry[1])
        results["training"] = {"ours": ours, "theirs": theirs, "wanted": TRAINING_STEP}
        print_measured("a step of training, 64 × 14 tokens, d_model 32", ours, theirs, f"threads: {threads}", None, TRAINING_STEP)
    for name, ours, theirs, how in measure_experts(options.program, scratch, options.rounds) if wants("experts") else ():
        results[name] = {"ours": ours, "theirs": theirs, "wanted": EXPERTS}
        print_measured(name, ours, theirs, how, None, EXPERTS)
    if passes:
        print_passes(passes, peak)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name has this in it; or backward, training, experts, edits, memory")
    parser.add_argument("--peak", help="the program bench_peak: also prints which part of the machine's peak is reached")
    parser.add_argument("--products", help="the program bench_products: the limit by oneDNN alone, and our products beside it")
    parser.add_argument("--json", help="writes the results there, too")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    print(f"PyTorch {torch.__version__} with {best_blas.described(BLAS)}")
    peak = json.loads(subprocess.check_output([options.peak])) if options.peak else None
    if peak is not None:
        print(f"peak: {peak['gflops']:.0f} GFLOP/s, {peak['gigabytes_per_second']:.1f} GB/s")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        results = {"blas": BLAS, **compare(options, scratch, peak)}
        if options.only in "edits":
            results["edits"] = measure_edits(options.program, scratch, options.rounds)
        if options.only in "memory":
            results["memory"] = measure_memory(options.program, scratch)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
