"""The practical limit of a pass: its products by the best library alone, and one writing of what is recorded.

Each kind of product is timed by the BLAS and by oneDNN with packed weights, over the weights of the model in turn, as
a pass meets them; the faster counts. The BLAS is called from Python: where a product takes only a few microseconds, there
is no limit to be told. oneDNN alone is best timed by the program bench_products, which times our products in turn with it;
PyTorch, which takes its place without the program, packs a weight again for each product.
"""

import collections
import json
import statistics
import subprocess
import time

import torch

from config import complete, parameters
from work import rows_of, target_size

TRIES, SHORTEST = 5, 20e-6  # of a product, in seconds


def median_seconds(work):
    work()
    times = []
    for _ in range(TRIES):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def weights_by_product(config, weights, inputs):
    """The weights that are multiplied by rows [m, k], by (m, k, n)."""
    c, found = complete(config), collections.defaultdict(list)
    for name, shape, kind, _ in parameters(config):
        if kind == "linear" and len(shape) == 2:
            found[(rows_of(name, inputs), shape[1], shape[0])].append(weights[name])
    if c["tie_word_embeddings"]:
        head = weights["embed.weight"]
        found[(rows_of("lm_head.weight", inputs), head.shape[1], head.shape[0])].append(head)
    return found


def by_blas(m, k, n, weights):
    x, out = torch.ones(m, k), torch.empty(m, n)

    def multiply():
        for weight in weights:
            torch.mm(x, weight.t(), out=out)

    return median_seconds(multiply)


def by_torchs_onednn(m, k, n, weights):
    if not torch.backends.mkldnn.is_available():
        return float("inf")
    x, bias, packed = torch.ones(m, k).to_mkldnn(), torch.zeros(n).to_mkldnn(), [weight.to_mkldnn() for weight in weights]

    def multiply():
        for weight in packed:
            torch._C._nn.mkldnn_linear(x, weight, bias)

    return median_seconds(multiply)


def attention(config, inputs):
    """Scores and weighted sums of every attention, in seconds, and their number."""
    c = complete(config)
    batch, queries = target_size(inputs)
    keys = [queries] + ([inputs["memory"].shape[1]] if c["cross_attention"] else [])
    heads, width = batch * c["nhead"], c["d_model"] // c["nhead"]
    took = 0.0
    for count in keys:
        q, k, pattern = torch.ones(heads, queries, width), torch.ones(heads, count, width), torch.ones(heads, queries, count)
        took += median_seconds(lambda: torch.bmm(q, k.transpose(1, 2))) + median_seconds(lambda: torch.bmm(pattern, k))
    return took * c["num_layers"], 2 * len(keys) * c["num_layers"]


def seconds_to_write(count):
    """So many bytes into memory that is there."""
    room = torch.zeros(64 << 20)
    return count * median_seconds(lambda: room.fill_(1.0)) / (4 * room.numel())


def by_program(program, products):
    """What bench_products measures of these shapes, by shape: seconds by us and by oneDNN for all of a shape's weights."""
    shapes = [f"{m},{k},{n},{len(weights)}" for (m, k, n), weights in products.items()]
    results = json.loads(subprocess.check_output([program, *shapes]))
    return {(r["m"], r["k"], r["n"]): r for r in results}


def best_products(products, timed):
    """Seconds of the products with weights by the best library."""
    best = 0.0
    for shape, multiplied in products.items():
        onednn = timed[shape]["onednn"] if timed else by_torchs_onednn(*shape, multiplied)
        best += min(by_blas(*shape, multiplied), onednn)
    return best


def practical_limit(config, weights, inputs, recorded_bytes, program=None):
    """{"limit": in milliseconds, "products": the best library's time of the products with weights as a part of ours}. The
    first is None where products are too short, the second without the program bench_products."""
    with torch.inference_mode():
        took, count = attention(config, inputs)
        products = weights_by_product(config, weights, inputs)
        timed = by_program(program, products) if program else {}
        best = best_products(products, timed)
        count += sum(map(len, products.values()))
        took += best
        limit = 1e3 * (took + seconds_to_write(recorded_bytes)) if took / count > SHORTEST else None
        return {"limit": limit, "products": best / sum(r["ours"] for r in timed.values()) if timed and limit else None}


def by_blas_backward(m, k, n, weights):
    """The gradients of the rows [m, k] and of each weight [n, k]."""
    x, grad, of_rows, of_weight = torch.ones(m, k), torch.ones(m, n), torch.empty(m, k), torch.empty(n, k)

    def multiply():
        for weight in weights:
            torch.mm(grad, weight, out=of_rows)
            torch.mm(grad.t(), x, out=of_weight)

    return median_seconds(multiply)


def practical_limit_both_ways(config, weights, inputs, recorded_bytes, program=None):
    """In milliseconds, of forward and backward: each product once, and once for the gradient of either factor; what is recorded
    and its gradients are written once. (The gradients' products are the BLAS': oneDNN packs a factor anew for each.)"""
    with torch.inference_mode():
        products = weights_by_product(config, weights, inputs)
        forward = best_products(products, by_program(program, products) if program else {})
        backward = sum(by_blas_backward(*shape, multiplied) for shape, multiplied in products.items())
        of_weights = sum(4 * weight.numel() for multiplied in products.values() for weight in multiplied)
        written = seconds_to_write(2 * recorded_bytes + of_weights)
        return 1e3 * (forward + backward + 3 * attention(config, inputs)[0] + written)
