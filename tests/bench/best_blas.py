"""Which kernels of OpenBLAS are the fastest on this machine: python3 best_blas.py

Debian's PyTorch multiplies with the system's BLAS. OpenBLAS chooses its kernels by the processor's model number, and
takes those of 2004 (Prescott) for a model that is younger than itself: a fifth of the speed or less. OPENBLAS_CORETYPE
overrides the choice, so every set of kernels that the processor's instructions allow is timed, each in a process of its
own, on products of the sizes that PyTorch is then timed on.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# OpenBLAS' names for its kernels, and the instructions that they need (its driver/others/dynamic.c).
KERNELS = {
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"},
    "Cooperlake": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_bf16"},
    "SapphireRapids": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_bf16", "amx_bf16"},
}
# (rows, inner, columns): a block of GPT-2-small at 16, 128 and 512 tokens.
PRODUCTS = [(16, 768, 3072), (128, 768, 2304), (128, 3072, 768), (512, 768, 3072)]
CHOSEN = "DECODERSCOPE_BENCH_BLAS"


def instructions():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


def measured():
    """This process' kernels: their name and GFLOP/s over the products. Nothing if the BLAS isn't OpenBLAS."""
    blas = ctypes.CDLL("libblas.so.3", mode=ctypes.RTLD_GLOBAL)
    if not hasattr(blas, "openblas_get_corename"):
        return None
    blas.openblas_get_corename.restype = ctypes.c_char_p
    seconds = flops = 0.0
    for rows, inner, columns in PRODUCTS:
        a, b, c = ((ctypes.c_float * n)(*([0.5] * n)) for n in (rows * inner, inner * columns, rows * columns))
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        m, n, k = (ctypes.byref(ctypes.c_int(x)) for x in (columns, rows, inner))
        letter = ctypes.c_char_p(b"N")

        def multiply():  # Fortran's order of axes: the transposes, multiplied the other way round
            start = time.perf_counter()
            blas.sgemm_(letter, letter, m, n, k, ctypes.byref(one), b, m, a, k, ctypes.byref(zero), c, m)
            return time.perf_counter() - start

        multiply()
        seconds += statistics.median(multiply() for _ in range(15))
        flops += 2.0 * rows * inner * columns
    return {"kernels": blas.openblas_get_corename().decode(), "gflops": flops / seconds / 1e9}


def all_measured():
    """Every set of kernels that runs here, the fastest first; the one that OpenBLAS itself takes has "own"."""
    found = []
    for kernels in ["", *(name for name, needs in KERNELS.items() if needs <= instructions())]:
        environment = {**os.environ, "OMP_NUM_THREADS": str(os.cpu_count())}
        environment.pop("OPENBLAS_CORETYPE", None)
        if kernels:
            environment["OPENBLAS_CORETYPE"] = kernels
        said = subprocess.run([sys.executable, __file__, "--measure"], env=environment, capture_output=True, text=True)
        one = json.loads(said.stdout) if said.returncode == 0 else None
        if one is None or (kernels and one["kernels"] != kernels):
            continue  # another BLAS, or one that doesn't have these kernels
        if any(one["kernels"] == other["kernels"] for other in found):
            continue
        found.append({**one, "own": not kernels})
    return sorted(found, key=lambda one: -one["gflops"])


def use_fastest():
    """Starts this program anew with the fastest kernels, unless it was. Returns what was measured, to be printed."""
    if CHOSEN in os.environ:
        return json.loads(os.environ[CHOSEN])
    assert "OPENBLAS_CORETYPE" not in os.environ, "OPENBLAS_CORETYPE is set; it is chosen here, by measuring"
    found = all_measured()
    if found:
        assert found[0]["kernels"] in KERNELS, (
            f"OpenBLAS has no kernels for this processor but {found[0]['kernels']}'s: PyTorch would be crippled")
        os.environ["OPENBLAS_CORETYPE"] = found[0]["kernels"]
    os.environ[CHOSEN] = json.dumps(found)
    os.execv(sys.executable, [sys.executable, *sys.argv])


def check_products():
    """Debian's PyTorch multiplies with the BLAS that is installed; the reference one takes 60 times as long. PyTorch must
    have been imported."""
    torch = sys.modules["torch"]
    torch.ones(64, 64) @ torch.ones(64, 64)
    fast = any(name in Path("/proc/self/maps").read_text() for name in ("openblas", "mkl", "blis"))
    assert fast, "PyTorch multiplies with the reference BLAS: install libopenblas0-openmp"


def described(found):
    """One line: "OpenBLAS' SapphireRapids kernels (234 GFLOP/s; SkylakeX, its own choice, 115)"."""
    if not found:
        return "a BLAS that isn't OpenBLAS"
    others = [f"{one['kernels']}{', its own choice,' if one['own'] else ''} {one['gflops']:.0f}" for one in found[1:]]
    speeds = "; ".join([f"{found[0]['gflops']:.0f} GFLOP/s", *others])
    return f"OpenBLAS' {found[0]['kernels']} kernels ({speeds})"


if __name__ == "__main__":
    print(json.dumps(measured()) if "--measure" in sys.argv else described(all_measured()))
