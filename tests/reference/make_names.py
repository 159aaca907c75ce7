"""Writes names.json: how tutorials call their tensors, of which shapes, and what each is.

    python3 make_names.py

Names and shapes alone, without numbers: from each tutorial's own attribute names. "map" is in the notation of
foreign/README.md; "answers" is what a person has to say.
"""

import json
import pathlib

D, FF, TARGET, SOURCE, LAYERS, LONGEST = 12, 16, 23, 19, 2, 18


class Tutorial:
    def __init__(self, answers=None):
        self.tensors, self.map, self.answers = {}, {}, answers or {}

    def tensor(self, theirs, ours, *shape):
        self.tensors[theirs] = list(shape)
        if ours:
            self.map[theirs] = ours

    def linear(self, theirs, ours, rows, columns, bias=True):
        self.tensor(f"{theirs}.weight", f"{ours}.weight", rows, columns)
        if bias:
            self.tensor(f"{theirs}.bias", f"{ours}.bias", rows)

    def norm(self, theirs, ours, gain="weight", shift="bias", width=D):
        self.tensor(f"{theirs}.{gain}", f"{ours}.weight", width)
        if shift:
            self.tensor(f"{theirs}.{shift}", f"{ours}.bias", width)

    def projections(self, theirs, ours, names, bias=True):
        for name, letter in zip(names, "qkvo"):
            self.linear(f"{theirs}.{name}" if theirs else name, f"{ours}.{letter}_proj", D, D, bias)

    def mlp(self, theirs, ours, names, bias=True):
        self.linear(f"{theirs}{names[0]}", f"{ours}.up_proj", FF, D, bias)
        self.linear(f"{theirs}{names[1]}", f"{ours}.down_proj", D, FF, bias)


def sides():
    return (("encoder", "encoder.", False, SOURCE), ("decoder", "", True, TARGET))


def former():
    t = Tutorial()
    t.tensor("token_embedding.weight", "embed.weight", TARGET, D)
    t.tensor("pos_embedding.weight", "pos_embed.weight", LONGEST, D)
    for l in range(LAYERS):
        theirs, ours = f"tblocks.{l}", f"layers.{l}"
        for name, letter in (("tokeys", "k"), ("toqueries", "q"), ("tovalues", "v")):
            t.linear(f"{theirs}.attention.{name}", f"{ours}.self_attn.{letter}_proj", D, D, False)
        t.linear(f"{theirs}.attention.unifyheads", f"{ours}.self_attn.o_proj", D, D)
        t.norm(f"{theirs}.norm1", f"{ours}.norm1")
        t.norm(f"{theirs}.norm2", f"{ours}.norm2")
        t.mlp(f"{theirs}.ff.", ours, ("0", "2"))
    t.linear("toprobs", "lm_head", TARGET, D)
    return t


def labml():
    t = Tutorial()
    for side, start, crossed, _ in sides():
        for l in range(LAYERS):
            theirs, ours = f"{side}.layers.{l}", f"{start}layers.{l}"
            for name, our in (("self_attn", "self_attn"), ("src_attn", "cross_attn"))[:1 + crossed]:
                t.projections(f"{theirs}.{name}", f"{ours}.{our}", ("query.linear", "key.linear", "value.linear", "output"))
            t.mlp(f"{theirs}.feed_forward.", ours, ("layer1", "layer2"))
            t.norm(f"{theirs}.norm_self_attn", f"{ours}.norm1")
            if crossed:
                t.norm(f"{theirs}.norm_src_attn", f"{ours}.norm2")
            t.norm(f"{theirs}.norm_ff", f"{ours}.norm{2 + crossed}")
        t.norm(f"{side}.norm", f"{start}norm")
    for name, start, words in (("src_embed", "encoder.", SOURCE), ("tgt_embed", "", TARGET)):
        t.tensor(f"{name}.linear.weight", f"{start}embed.weight", words, D)
        t.tensor(f"{name}.positional_encodings", f"{start}pos_embed.weight", LONGEST, 1, D)
    t.linear("generator.projection", "lm_head", TARGET, D)
    return t


def code_emporium():
    t = Tutorial({"qkv_order": "by_head"})
    for side, start, crossed, words in sides():
        t.tensor(f"{side}.sentence_embedding.embedding.weight", f"{start}embed.weight", words, D)
        for l in range(LAYERS):
            theirs, ours = f"{side}.layers.{l}", f"{start}layers.{l}"
            own, norm = ("self_attention", "layer_norm") if crossed else ("attention", "norm")
            for ending, *more in (("weight", D), ("bias",)):
                t.tensor(f"{theirs}.{own}.qkv_layer.{ending}", f"{ours}.self_attn.{{q,k,v}}_proj.{ending}, by head",
                         3 * D, *more)
                if crossed:
                    t.tensor(f"{theirs}.encoder_decoder_attention.kv_layer.{ending}",
                             f"{ours}.cross_attn.{{k,v}}_proj.{ending}, by head", 2 * D, *more)
            t.linear(f"{theirs}.{own}.linear_layer", f"{ours}.self_attn.o_proj", D, D)
            if crossed:
                t.linear(f"{theirs}.encoder_decoder_attention.q_layer", f"{ours}.cross_attn.q_proj", D, D)
                t.linear(f"{theirs}.encoder_decoder_attention.linear_layer", f"{ours}.cross_attn.o_proj", D, D)
            t.mlp(f"{theirs}.ffn.", ours, ("linear1", "linear2"))
            for n in range(1, 3 + crossed):
                t.norm(f"{theirs}.{norm}{n}", f"{ours}.norm{n}", "gamma", "beta")
    t.linear("linear", "lm_head", TARGET, D)
    return t


def numbered_attentions():
    """Keras' translation tutorial, ported."""
    t = Tutorial()
    for side, start, crossed, words in sides():
        t.tensor(f"{side}.embedding.weight", f"{start}embed.weight", words, D)
        for l in range(LAYERS):
            theirs, ours = f"{side}.{side[:3]}_layers.{l}", f"{start}layers.{l}"
            for name, our in (("mha1", "self_attn"), ("mha2", "cross_attn")) if crossed else (("mha", "self_attn"),):
                t.projections(f"{theirs}.{name}", f"{ours}.{our}", ("wq", "wk", "wv", "dense"))
            t.mlp(f"{theirs}.ffn.", ours, ("0", "2"))
            for n in range(1, 3 + crossed):
                t.norm(f"{theirs}.layernorm{n}", f"{ours}.norm{n}")
    t.linear("final_layer", "lm_head", TARGET, D)
    return t


def bert():
    t = Tutorial()
    t.tensor("bert.embeddings.word_embeddings.weight", "embed.weight", TARGET, D)
    t.tensor("bert.embeddings.position_embeddings.weight", "pos_embed.weight", LONGEST, D)
    t.tensor("bert.embeddings.position_ids", "", 1, LONGEST)
    t.norm("bert.embeddings.LayerNorm", "embed_norm")
    for l in range(LAYERS):
        theirs, ours = f"bert.encoder.layer.{l}", f"layers.{l}"
        t.projections(f"{theirs}.attention.self", f"{ours}.self_attn", ("query", "key", "value"))
        t.linear(f"{theirs}.attention.output.dense", f"{ours}.self_attn.o_proj", D, D)
        t.norm(f"{theirs}.attention.output.LayerNorm", f"{ours}.norm1")
        t.mlp(f"{theirs}.", ours, ("intermediate.dense", "output.dense"))
        t.norm(f"{theirs}.output.LayerNorm", f"{ours}.norm2")
    return t


def llama_from_scratch():
    t = Tutorial({"gate_proj": "fc1"})
    t.tensor("tok_emb.weight", "embed.weight", TARGET, D)
    for l in range(LAYERS):
        theirs, ours = f"trf_blocks.{l}", f"layers.{l}"
        for name, letter, rows in (("W_query", "q", D), ("W_key", "k", D // 2), ("W_value", "v", D // 2)):
            t.linear(f"{theirs}.att.{name}", f"{ours}.self_attn.{letter}_proj", rows, D, False)
        t.linear(f"{theirs}.att.out_proj", f"{ours}.self_attn.o_proj", D, D, False)
        for letter in "qk":
            t.norm(f"{theirs}.att.{letter}_norm", f"{ours}.self_attn.{letter}_norm", "scale", None, 3)
        t.linear(f"{theirs}.ff.fc1", f"{ours}.gate_proj", FF, D, False)
        t.mlp(f"{theirs}.ff.", ours, ("fc2", "fc3"), False)
        t.norm(f"{theirs}.norm1", f"{ours}.norm1", "scale", None)
        t.norm(f"{theirs}.norm2", f"{ours}.norm2", "scale", None)
    t.norm("final_norm", "norm", "scale", None)
    t.linear("out_head", "lm_head", TARGET, D, False)
    for name in ("cos", "sin"):
        t.tensor(name, "", LONGEST, 4)
    return t


def bare_parameters():
    """x @ W, with parameters of one's own."""
    t = Tutorial()
    t.tensor("wte", "embed.weight", TARGET, D)
    t.tensor("wpe", "pos_embed.weight", LONGEST, D)
    for l in range(LAYERS):
        theirs, ours = f"blocks.{l}", f"layers.{l}"
        for letter in "qkvo":
            t.tensor(f"{theirs}.attn.W_{letter}", f"{ours}.self_attn.{letter}_proj.weight, transposed", D, D)
        t.tensor(f"{theirs}.mlp.w1", f"{ours}.up_proj.weight, transposed", D, FF)
        t.tensor(f"{theirs}.mlp.w2", f"{ours}.down_proj.weight, transposed", FF, D)
        t.norm(f"{theirs}.ln1", f"{ours}.norm1", "g", "b")
        t.norm(f"{theirs}.ln2", f"{ours}.norm2", "g", "b")
    t.norm("ln_f", "norm", "g", "b")
    return t


def alternating():
    """x-transformers with cross-attention: three layers are a block."""
    t = Tutorial()
    t.tensor("net.token_emb.emb.weight", "embed.weight", TARGET, D)
    t.tensor("net.pos_emb.emb.weight", "pos_embed.weight", LONGEST, D)
    for l in range(LAYERS):
        for n, our in enumerate(("self_attn", "cross_attn")):
            theirs = f"net.attn_layers.layers.{3 * l + n}"
            t.norm(f"{theirs}.0.0", f"layers.{l}.norm{n + 1}", "gamma", None)
            for name, letter in zip(("to_q", "to_k", "to_v"), "qkv"):
                t.linear(f"{theirs}.1.{name}", f"layers.{l}.{our}.{letter}_proj", 16, D, False)
            t.linear(f"{theirs}.1.to_out", f"layers.{l}.{our}.o_proj", D, 16, False)
        theirs = f"net.attn_layers.layers.{3 * l + 2}"
        t.norm(f"{theirs}.0.0", f"layers.{l}.norm3", "gamma", None)
        t.mlp(f"{theirs}.1.ff.", f"layers.{l}", ("0.0", "2"))
    t.norm("net.attn_layers.final_norm", "norm", "gamma", None)
    t.linear("net.to_logits", "lm_head", TARGET, D, False)
    return t


def qkv_nets():
    """gordicaleksa's Transformer: a list of three projections, q's, k's and v's."""
    t = Tutorial()
    for side, start, crossed, words in sides():
        word = "trg" if crossed else "src"
        t.tensor(f"{word}_embedding.embeddings_table.weight", f"{start}embed.weight", words, D)
        t.tensor(f"{word}_pos_embedding.positional_encodings_table", f"{start}pos_embed.weight", LONGEST, D)
        for l in range(LAYERS):
            theirs, ours = f"{side}.{side}_layers.{l}", f"{start}layers.{l}"
            attentions = ("trg_multi_headed_attention", "src_multi_headed_attention") if crossed else (
                "multi_headed_attention",)
            for name, our in zip(attentions, ("self_attn", "cross_attn")):
                t.projections(f"{theirs}.{name}", f"{ours}.{our}",
                              ("qkv_nets.0", "qkv_nets.1", "qkv_nets.2", "out_projection_net"))
            t.mlp(f"{theirs}.pointwise_net.", ours, ("linear1", "linear2"))
            for n in range(2 + crossed):
                t.norm(f"{theirs}.sublayers.{n}.norm", f"{ours}.norm{n + 1}")
        t.norm(f"{side}.norm", f"{start}norm")
    t.linear("decoder_generator.linear", "lm_head", TARGET, D)
    return t


def torch_translation():
    """pytorch/examples' language_translation: one table of positions, "pos_enc", for both sides."""
    t = Tutorial()
    for name, start, words in (("src_embedding", "encoder.", SOURCE), ("tgt_embedding", "", TARGET)):
        t.tensor(f"{name}.weight", f"{start}embed.weight", words, D)
    t.tensor("pos_enc.pos_embedding", ["pos_embed.weight", "encoder.pos_embed.weight"], LONGEST, 1, D)
    for side, start, crossed, _ in sides():
        for l in range(LAYERS):
            theirs, ours = f"transformer.{side}.layers.{l}", f"{start}layers.{l}"
            for name, our in (("self_attn", "self_attn"), ("multihead_attn", "cross_attn"))[:1 + crossed]:
                for ending, *more in (("weight", D), ("bias",)):
                    t.tensor(f"{theirs}.{name}.in_proj_{ending}", f"{ours}.{our}.{{q,k,v}}_proj.{ending}", 3 * D, *more)
                t.linear(f"{theirs}.{name}.out_proj", f"{ours}.{our}.o_proj", D, D)
            t.mlp(f"{theirs}.", ours, ("linear1", "linear2"))
            for n in range(1, 3 + crossed):
                t.norm(f"{theirs}.norm{n}", f"{ours}.norm{n}")
        t.norm(f"transformer.{side}.norm", f"{start}norm")
    t.linear("ff", "lm_head", TARGET, D)
    return t


def fairseq():
    t = Tutorial({"embedding_norm": "false"})
    t.tensor("decoder.embed_tokens.weight", "embed.weight", TARGET, D)
    t.tensor("decoder.embed_positions._float_tensor", "", 1)
    t.tensor("decoder.version", "", 1)
    for l in range(LAYERS):
        theirs, ours = f"decoder.layers.{l}", f"layers.{l}"
        t.projections(f"{theirs}.self_attn", f"{ours}.self_attn", ("q_proj", "k_proj", "v_proj", "out_proj"))
        t.norm(f"{theirs}.self_attn_layer_norm", f"{ours}.norm1")
        t.norm(f"{theirs}.final_layer_norm", f"{ours}.norm2")
        t.mlp(f"{theirs}.", ours, ("fc1", "fc2"))
    t.norm("decoder.layer_norm", "norm")
    t.linear("decoder.output_projection", "lm_head", TARGET, D, False)
    return t


def prefixed():
    """Projections directly in the block, with the attention's name in theirs."""
    t = Tutorial()
    t.tensor("embedding.weight", "embed.weight", TARGET, D)
    t.tensor("position_embedding.weight", "pos_embed.weight", LONGEST, D)
    for l in range(LAYERS):
        theirs, ours = f"layers.{l}", f"layers.{l}"
        for name in ("self", "cross"):
            for letter in "qkvo":
                t.linear(f"{theirs}.{name}_attn_{letter}", f"{ours}.{name}_attn.{letter}_proj", D, D)
        t.mlp(f"{theirs}.", ours, ("ff1", "ff2"))
        for n in (1, 2, 3):
            t.norm(f"{theirs}.ln{n}", f"{ours}.norm{n}")
    t.linear("fc_out", "lm_head", TARGET, D)
    return t


def single_block():
    t = Tutorial()
    t.tensor("token_embedding.weight", "embed.weight", TARGET, D)
    t.tensor("positional_embedding.weight", "pos_embed.weight", LONGEST, D)
    t.projections("attention", "layers.0.self_attn", ("q_linear", "k_linear", "v_linear", "out"))
    t.mlp("feed_forward.", "layers.0", ("linear_1", "linear_2"))
    t.norm("norm_1", "layers.0.norm1", "alpha")
    t.norm("norm_2", "layers.0.norm2", "alpha")
    t.linear("output_layer", "lm_head", TARGET, D)
    return t


def alpha_and_bias():
    t = Tutorial()
    for side, start, crossed, words in sides():
        t.tensor(f"{side}.embed.embed.weight", f"{start}embed.weight", words, D)
        t.tensor(f"{side}.pe.pe", f"{start}pos_embed.weight", 1, LONGEST, D)
        for l in range(LAYERS):
            theirs, ours = f"{side}.layers.{l}", f"{start}layers.{l}"
            for name, our in (("attn_1", "self_attn"), ("attn_2", "cross_attn")) if crossed else (("attn", "self_attn"),):
                t.projections(f"{theirs}.{name}", f"{ours}.{our}", ("q_linear", "k_linear", "v_linear", "out"))
            t.mlp(f"{theirs}.ff.", ours, ("linear_1", "linear_2"))
            for n in range(1, 3 + crossed):
                t.norm(f"{theirs}.norm_{n}", f"{ours}.norm{n}", "alpha")
        t.norm(f"{side}.norm", f"{start}norm", "alpha")
    t.linear("out", "lm_head", TARGET, D)
    return t


def main():
    made = (former, labml, code_emporium, numbered_attentions, bert, llama_from_scratch, bare_parameters, alternating,
            qkv_nets, torch_translation, fairseq, prefixed, single_block, alpha_and_bias)
    tutorials = {make.__name__: vars(make()) for make in made}
    path = pathlib.Path(__file__).parent / "names.json"
    path.write_text(json.dumps(tutorials, indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
