"""What is measured: three tutorials' decoders at their own sizes and GPT-2-small, each with random weights and an input."""

import torch

SIMPLE_DECODER = {"d_model": 64, "nhead": 8, "num_layers": 1, "dim_feedforward": 256, "mask_value": "-1e20"}
CAUSAL_LM = {"d_model": 64, "nhead": 8, "num_layers": 5, "dim_feedforward": 256, "layer_norm_eps": 1e-6,
             "vocab_size": 12, "lm_head": True}
PRE_LN_ENCDEC = {"d_model": 512, "nhead": 8, "num_layers": 4, "dim_feedforward": 2048, "norm_first": True,
                 "final_norm": True, "cross_attention": True, "mask_value": "-1e9"}
GPT2_SMALL = {"d_model": 768, "nhead": 12, "num_layers": 12, "dim_feedforward": 3072, "norm_first": True,
              "final_norm": True, "activation": "gelu_tanh", "vocab_size": 50257, "positional_encoding": "learned",
              "max_positions": 1024, "lm_head": True, "tie_word_embeddings": True}


def three_rows(generator):
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    return {"x": torch.rand(3, 4, 64, generator=generator), "attention_mask": mask}


def three_rows_of_tokens(generator):
    return {"tokens": torch.randint(12, (3, 4), generator=generator),
            "attention_mask": three_rows(generator)["attention_mask"]}


def two_rows_and_a_memory(generator):
    return {"x": torch.randn(2, 6, 512, generator=generator), "memory": torch.randn(2, 8, 512, generator=generator),
            "attention_mask": torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]]),
            "encoder_attention_mask": torch.tensor([[1, 1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0]])}


def tokens(count):
    return lambda generator: {"tokens": torch.randint(50257, (1, count), generator=generator)}


# name: (configuration, input, the largest ratio to PyTorch that we want)
CASES = {
    "simple-decoder": (SIMPLE_DECODER, three_rows, 0.15),
    "causal-lm-as-meant": (CAUSAL_LM, three_rows_of_tokens, 0.15),
    "pre-ln-encdec": (PRE_LN_ENCDEC, two_rows_and_a_memory, 0.22),
    "GPT-2-small, 1 token": (GPT2_SMALL, tokens(1), 0.27),
    "GPT-2-small, 16 tokens": (GPT2_SMALL, tokens(16), 0.36),
    "GPT-2-small, 128 tokens": (GPT2_SMALL, tokens(128), 0.70),
    "GPT-2-small, 512 tokens": (GPT2_SMALL, tokens(512), 0.78),
    "GPT-2-small, 1024 tokens": (GPT2_SMALL, tokens(1024), 0.78),
}

# What is edited, and for each edit the largest ratio to a full run that we want: at layer k of 12 the blocks from it on
# and a little more; rows before the edited one stay.
EDITED = "GPT-2-small, 128 tokens"


def mask_cell(layer):
    return {"edit": "mask", "attention": f"blocks.{layer}.attn", "batch": 0, "head": 3, "query": 64, "key": 10,
            "keep": False}


EDITS = {
    "a mask cell of query 64, block 0": (mask_cell(0), 0.75 + 0.05),
    "the same, block 6": (mask_cell(6), 0.75 * 6 / 12 + 0.05),
    "the same, block 11": (mask_cell(11), 0.75 * 1 / 12 + 0.05),
    "a head of block 6 off": ({"edit": "scale_head", "attention": "blocks.6.attn", "head": 3, "factor": 0.0},
                              0.75 * 6 / 12 + 0.05),
    "the last token": ({"edit": "set_cell", "tensor": "tokens", "index": [0, 127], "value": 11}, 0.15),
}

# The cases whose peak memory is measured.
MEMORY = ["GPT-2-small, 1 token", "GPT-2-small, 128 tokens", "GPT-2-small, 512 tokens"]

# Forward and backward together: the largest ratio to PyTorch's that we want.
BACKWARD = {"GPT-2-small, 128 tokens": 0.60}

# A training step of train_step.py, and what mixtures.py times: the same.
TRAINING_STEP, EXPERTS = 0.40, 1.0
