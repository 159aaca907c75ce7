// The glossary's table. A meaning is one or two sentences that a beginner can read without the others.
#include "app/core/glossary/glossary.h"

#include <array>

namespace decoderscope::core::glossary {

namespace {

constexpr auto kTerms = std::to_array<GlossaryTerm>({
    // ---- the pass as a whole
    {.id = "step",
     .name = message("step"),
     .meaning = message("One tensor of the forward pass, with the operation that computes it and the tensors that it "
                        "is computed from. The timeline shows all of them in order."),
     .spellings = message("steps, timeline")},
    {.id = "tensor",
     .name = message("tensor"),
     .meaning = message("Numbers in a grid with named axes, such as [batch, head, query, key]. A cell is one of them."),
     .spellings = message("tensors"),
     .pytorch = "torch.Tensor"},
    {.id = "input",
     .name = message("input"),
     .meaning = message("What the model is run on: tokens, or vectors where it has no vocabulary, and the masks that "
                        "say which positions are padding."),
     .spellings = message("inputs"),
     .tensors = "tokens|x|encoder_tokens"},
    {.id = "batch",
     .name = message("batch"),
     .meaning = message("Several sequences that are computed together, one per row. They never affect each other."),
     .spellings = message("batch row, batch rows")},
    {.id = "position",
     .name = message("position"),
     .meaning = message("A place in a sequence, counted from 0. Each has one token, and one row in every tensor."),
     .spellings = message("positions"),
     .transformer_lens = "pos"},
    {.id = "encoder",
     .name = message("encoder"),
     .meaning = message("The stack of blocks that reads the source. Each position sees all others, before and after; "
                        "its output is the memory."),
     .pytorch = "torch.nn.TransformerEncoder"},
    {.id = "decoder",
     .name = message("decoder"),
     .meaning = message("The stack of blocks that writes the answer, token by token. A causal mask hides from each "
                        "position what comes after it."),
     .spellings = message("decoders"),
     .pytorch = "torch.nn.TransformerDecoder"},
    {.id = "block",
     .name = message("block"),
     .meaning = message("One layer of the stack: self-attention, where there is an encoder cross-attention, then the "
                        "MLP; each adds to the residual stream."),
     .spellings = message("blocks, layer, layers"),
     .pytorch = "torch.nn.TransformerDecoderLayer",
     .transformer_lens = "blocks.N"},
    {.id = "sublayer",
     .name = message("sublayer"),
     .meaning = message("A part of a block that adds to the residual stream: an attention or the MLP."),
     .spellings = message("sublayers")},
    {.id = "linear",
     .name = message("Linear"),
     .meaning = message("A learned matrix, and a bias where there is one: every number that comes out is a weighted "
                        "sum of the row that goes in."),
     .pytorch = "torch.nn.Linear"},
    {.id = "bias",
     .name = message("bias"),
     .meaning = message("A learned number that is added after the multiplication by a weight."),
     .spellings = message("biases")},

    // ---- the stream
    {.id = "residual-stream",
     .name = message("residual stream"),
     .meaning =
         message("The row of d_model numbers that each position carries through all blocks. Every sublayer reads "
                 "it and adds to it; nothing else connects them."),
     .spellings = message("stream"),
     .transformer_lens = "hook_resid_pre / hook_resid_mid / hook_resid_post",
     .tensors = "resid_pre|resid_mid|resid_mid_cross|resid_post"},
    {.id = "residual-sum",
     .name = message("Add"),
     .meaning = message("The residual connection: what a sublayer computed is added to the stream, which is never "
                        "replaced."),
     .spellings = message("residual connection, residual sum, residual sums")},
    {.id = "d-model",
     .name = message("d_model"),
     .meaning = message("How many numbers a row of the residual stream has: the width of the model."),
     .spellings = message("hidden size"),
     .pytorch = "d_model",
     .transformer_lens = "d_model"},
    {.id = "token",
     .name = message("token"),
     .meaning = message("A piece of text with a number: a letter, a syllable or a word. The vocabulary lists all that "
                        "the model knows."),
     .spellings = message("tokens, token id, token ids, vocabulary")},
    {.id = "embedding",
     .name = message("Embedding"),
     .meaning = message("A table with one learned row per token: wherever a token occurs, its row enters the model."),
     .spellings = message("embeddings"),
     .pytorch = "torch.nn.Embedding",
     .transformer_lens = "hook_embed / W_E",
     .tensors = "embed|embed_sum"},
    {.id = "positional-encoding",
     .name = message("positional encoding"),
     .meaning = message("Attention alone can't tell the order of the tokens. So each position gets a row of its own, "
                        "from sines or learned, which is added to the embedding; or queries and keys are rotated."),
     .spellings = message("positional encodings, sinusoidal positions, learned positions"),
     .transformer_lens = "hook_pos_embed / W_pos",
     .tensors = "pos_embed"},
    {.id = "rope",
     .name = message("RoPE"),
     .meaning = message("Rotary positions: pairs of numbers of q and k are rotated by an angle that grows with the "
                        "position. The score then depends on how far apart the two are."),
     .spellings = message("rotary positions"),
     .transformer_lens = "hook_rot_q / hook_rot_k",
     .tensors = "q_unrotated|k_unrotated"},

    // ---- attention
    {.id = "self-attention",
     .name = message("Self-attention"),
     .meaning = message("Each position attends to positions of its own sequence and takes a weighted average of their "
                        "values. It is the only place where one position reads another."),
     .spellings = message("attention"),
     .pytorch = "torch.nn.MultiheadAttention",
     .transformer_lens = "attn / hook_attn_out",
     .tensors = "attn_out"},
    {.id = "cross-attention",
     .name = message("Cross-attention"),
     .meaning = message("Queries come from the decoder, keys and values from the encoder's memory: here the answer "
                        "reads the source."),
     .pytorch = "TransformerDecoderLayer.multihead_attn",
     .tensors = "cross_attn_out"},
    {.id = "memory",
     .name = message("memory"),
     .meaning = message("What the encoder passes to the decoder: one row per position of the source. Cross-attention "
                        "reads it in every block."),
     .spellings = message("Encoder output"),
     .pytorch = "memory",
     .tensors = "encoder_out|memory"},
    {.id = "head",
     .name = message("head"),
     .meaning = message("One of several attentions that work side by side, each with queries, keys and values of its "
                        "own. Together they write one update."),
     .spellings = message("heads"),
     .pytorch = "nhead",
     .transformer_lens = "n_heads"},
    {.id = "d-head",
     .name = message("d_head"),
     .meaning =
         message("How many numbers a query, key or value of one head has: d_model divided by the number of heads, "
                 "unless the configuration says otherwise."),
     .transformer_lens = "d_head"},
    {.id = "query",
     .name = message("query"),
     .meaning = message("What a position looks for, as a vector of d_head numbers. Rows of a pattern are queries."),
     .spellings = message("queries"),
     .pytorch = "query",
     .transformer_lens = "hook_q",
     .tensors = "q|q_unnormed"},
    {.id = "key",
     .name = message("key"),
     .meaning = message("What a position can be found by. A query attends to the keys that point its way; columns of a "
                        "pattern are keys."),
     .spellings = message("keys"),
     .pytorch = "key",
     .transformer_lens = "hook_k",
     .tensors = "k|k_unnormed|k_new|k_kept"},
    {.id = "value",
     .name = message("value"),
     .meaning = message("What a position passes on when it is attended to. z is the weighted average of the values."),
     .spellings = message("values"),
     .pytorch = "value",
     .transformer_lens = "hook_v",
     .tensors = "v|v_new|v_kept"},
    {.id = "sink",
     .name = message("attention sink"),
     .meaning =
         message("A learned score of each head that takes part in the softmax without a key and a value. What it "
                 "takes is missing in the row: the weights of the keys that are shown sum to less than 1."),
     .spellings = message("attention sinks, sinks"),
     .pytorch = "sinks",
     .tensors = "sink"},
    {.id = "latent",
     .name = message("latent attention"),
     .meaning =
         message("Keys and values of all heads are made from one short row a position, the latent. The cache keeps "
                 "it, and a key that all heads share for RoPE, instead of the keys and values."),
     .spellings = message("MLA, multi-head latent attention"),
     .pytorch = "kv_a_proj_with_mqa / kv_b_proj",
     .tensors = "kv_down|kv_latent|kv_latent_unnormed|q_latent|q_latent_unnormed|k_own|k_shared|k_shared_unrotated"},
    {.id = "scores",
     .name = message("score"),
     .meaning =
         message("How well a key fits a query: their dot product, scaled. The softmax turns a row of scores into "
                 "weights."),
     .spellings = message("scores, attention scores, attn_scores, dot product"),
     .transformer_lens = "hook_attn_scores = masked_scores",
     .tensors = "attn_scores|attn_scores_unbiased|masked_scores"},
    {.id = "scale",
     .name = message("1/√d_head"),
     .meaning = message("What every score is multiplied by. A dot product of long vectors is large; without the scale "
                        "the softmax would put nearly all weight on one key."),
     .spellings = message("√d_head, scaled dot product"),
     .pytorch = "scaled_dot_product_attention(scale=…)"},
    {.id = "softmax",
     .name = message("softmax"),
     .meaning =
         message("Turns a row of numbers into positive weights that sum to 1: exp of each, divided by the sum of "
                 "all. 1 more is 2.7 times the weight."),
     .pytorch = "torch.softmax"},
    {.id = "pattern",
     .name = message("pattern"),
     .meaning = message("The attention weights of a head, after the softmax: how much each query (row) takes from each "
                        "key (column). Every row sums to 1."),
     .spellings = message("patterns, attention pattern, attention weights"),
     .pytorch = "attn_output_weights",
     .transformer_lens = "hook_pattern",
     .tensors = "pattern"},
    {.id = "z",
     .name = message("z"),
     .meaning = message("What a head read: the values of the keys, averaged with the weights of the pattern, before "
                        "o_proj. One vector of d_head numbers per query."),
     .spellings = message("weighted sum of values"),
     .transformer_lens = "hook_z",
     .tensors = "z"},
    {.id = "result",
     .name = message("result"),
     .meaning = message("What one head adds to the residual stream: its z through its slice of o_proj. The results of "
                        "all heads, and the bias, sum to attn_out."),
     .transformer_lens = "hook_result",
     .tensors = "result"},
    {.id = "grouped-queries",
     .name = message("grouped-query attention"),
     .meaning = message("Several heads share the same keys and values; num_key_value_heads says how many there are. It "
                        "makes the KV cache smaller."),
     .spellings = message("grouped queries"),
     .pytorch = "scaled_dot_product_attention(enable_gqa=True)",
     .transformer_lens = "n_key_value_heads"},
    {.id = "soft-cap",
     .name = message("soft cap"),
     .meaning =
         message("cap · tanh(x / cap): small numbers stay nearly as they are, and none comes out larger than the "
                 "cap. Gemma 2 caps scores and logits."),
     .transformer_lens = "attn_scores_soft_cap",
     .tensors = "capped_scores"},

    // ---- masks
    {.id = "mask",
     .name = message("mask"),
     .meaning = message("Says which keys a query may see: 1 = kept, 0 = hidden. Causal, padding and drawn masks are "
                        "combined; a key is seen if all of them keep it."),
     .spellings = message("masks, masked, combine masks"),
     .pytorch = "attn_mask",
     .tensors = "mask"},
    {.id = "causal-mask",
     .name = message("causal mask"),
     .meaning = message("Hides from each position everything after it. Without it a decoder in training would read the "
                        "token that it is to predict."),
     .spellings = message("causal, causal masks"),
     .pytorch = "is_causal / tgt_mask"},
    {.id = "padding",
     .name = message("padding"),
     .meaning = message("Filler after a short sequence, so that all rows of a batch have the same length. The padding "
                        "mask hides it as a key."),
     .spellings = message("padded, padding mask"),
     .pytorch = "key_padding_mask (True = hidden)",
     .tensors = "attention_mask|encoder_attention_mask"},
    {.id = "custom-mask",
     .name = message("custom mask"),
     .meaning = message("Cells that you painted, or that a custom_mask of the input hides."),
     .spellings = message("painted mask, drawn mask, brush"),
     .pytorch = "attn_mask",
     .tensors = "custom_mask"},
    {.id = "fill",
     .name = message("fill"),
     .meaning = message("What replaces a hidden score. −∞ gives the weight 0 exactly, and NaN in a row with nothing "
                        "left; a finite fill such as −1e9 gives such a row equal weights."),
     .spellings = message("mask_value, fill where masked"),
     .pytorch = "masked_fill"},

    // ---- norms
    {.id = "norm",
     .name = message("Norm"),
     .meaning = message("Brings every row to the same size, so that no depth or width makes the numbers run away."),
     .spellings = message("norms"),
     .transformer_lens = "hook_normalized",
     .tensors = "normalized"},
    {.id = "norm-scale",
     .name = message("norm scale"),
     .meaning = message("What a norm divides a row by: √(variance + eps), for RMSNorm √(mean square + eps)."),
     .spellings = message("scale of LayerNorm, scale of RMSNorm"),
     .transformer_lens = "hook_scale",
     .tensors = "scale"},
    {.id = "layernorm",
     .name = message("LayerNorm"),
     .meaning = message("Subtracts the mean from a row, divides it by its standard deviation, then multiplies by a "
                        "learned gain and adds a learned bias."),
     .pytorch = "torch.nn.LayerNorm",
     .transformer_lens = "LayerNorm"},
    {.id = "rmsnorm",
     .name = message("RMSNorm"),
     .meaning = message("LayerNorm without the mean and the bias: divides a row by the root of its mean square, then "
                        "multiplies by a learned gain. Llama uses it."),
     .pytorch = "torch.nn.RMSNorm",
     .transformer_lens = "RMSNorm"},
    {.id = "gain",
     .name = message("gain"),
     .meaning =
         message("A norm's learned factors, one per column. They undo the normalisation where the model needs that."),
     .spellings = message("gains, shift, shifts"),
     .pytorch = "LayerNorm.weight / LayerNorm.bias",
     .transformer_lens = "w / b"},
    {.id = "eps",
     .name = message("eps"),
     .meaning = message("A tiny number under a norm's root, so that a row of equal numbers isn't divided by 0."),
     .pytorch = "eps"},
    {.id = "pre-norm",
     .name = message("Pre-Norm"),
     .meaning = message("The norm comes before each sublayer, and the residual stream itself is never normalised: it "
                        "grows with depth. Most models since GPT-2 do this."),
     .pytorch = "norm_first=True"},
    {.id = "post-norm",
     .name = message("Post-Norm"),
     .meaning = message("The norm comes after each residual sum, on the residual stream itself, as in the first "
                        "Transformer. The stream keeps its length; deep stacks are harder to train."),
     .pytorch = "norm_first=False"},

    // ---- the MLP
    {.id = "mlp",
     .name = message("MLP"),
     .meaning = message("Two Linears with an activation between them, applied to each position on its own: up to d_ff "
                        "numbers, and back to d_model."),
     .spellings = message("MLPs, feed-forward"),
     .pytorch = "linear1 / linear2",
     .transformer_lens = "hook_mlp_out",
     .tensors = "mlp_out|pre"},
    {.id = "expert",
     .name = message("expert"),
     .meaning =
         message("One of several MLPs in a block's place for one. Each position goes through the few that the router "
                 "chooses, and only these are computed for it; their outputs are added, each times its weight."),
     .spellings = message("experts, mixture of experts, MoE"),
     .pytorch = "experts",
     .tensors = "expert|expert_out"},
    {.id = "router",
     .name = message("router"),
     .meaning =
         message("A Linear that gives every expert a score for a position. The best few are chosen; their weights "
                 "follow from the same scores, so the router learns although the choice itself has no gradient."),
     .spellings = message("gate of a mixture"),
     .pytorch = "router",
     .tensors = "router_logits|router_scores|expert_weight"},
    {.id = "shared-expert",
     .name = message("shared expert"),
     .meaning =
         message("An MLP beside the experts that every position goes through, in some models times a weight of its "
                 "own between 0 and 1."),
     .spellings = message("shared experts, shared MLP"),
     .pytorch = "shared_expert",
     .tensors = "shared_out|shared_ungated|shared_logit|shared_weight"},
    {.id = "d-ff",
     .name = message("d_ff"),
     .meaning = message("The width of the MLP's hidden layer, usually 4 times d_model."),
     .pytorch = "dim_feedforward",
     .transformer_lens = "d_mlp"},
    {.id = "activation",
     .name = message("activation"),
     .meaning = message("The nonlinearity between the MLP's Linears, such as ReLU, GELU or SiLU. Without it both would "
                        "be one matrix."),
     .spellings = message("activations, ReLU, GELU, SiLU"),
     .pytorch = "torch.nn.functional.gelu",
     .transformer_lens = "hook_post",
     .tensors = "post"},
    {.id = "gate",
     .name = message("gate"),
     .meaning = message("A third Linear of some MLPs: its activation decides how much of each hidden number passes. "
                        "With SiLU this is SwiGLU."),
     .spellings = message("gated MLP, SwiGLU"),
     .transformer_lens = "hook_pre",
     .tensors = "gate"},
    {.id = "dropout",
     .name = message("dropout"),
     .meaning =
         message("In training, numbers are set to 0 at random and the others made larger, so that no unit relies "
                 "on another. It is off when a model is used, unless you switch it on."),
     .spellings = message("dropped, dropout mask"),
     .pytorch = "torch.nn.Dropout",
     .tensors = "dropped|dropout_mask"},

    // ---- the output
    {.id = "language-head",
     .name = message("language head"),
     .meaning = message("The last Linear: it turns a row of the residual stream into one logit for each token of the "
                        "vocabulary. It is not an attention head."),
     .spellings = message("lm_head, unembedding"),
     .transformer_lens = "unembed / W_U"},
    {.id = "loss",
     .name = message("loss"),
     .meaning = message("How surprised the model is by the token that really comes next: minus the logarithm of its "
                        "probability, on average over the positions. Training makes it smaller."),
     .spellings = message("cross-entropy")},
    {.id = "logits",
     .name = message("logits"),
     .meaning = message("One number for each token of the vocabulary: the larger, the likelier the token comes next. "
                        "Only differences count."),
     .spellings = message("logit"),
     .transformer_lens = "logits",
     .tensors = "logits|logits_uncapped|logits_unscaled"},
    {.id = "probability",
     .name = message("probability"),
     .meaning = message("The softmax of the logits: how likely each token comes next, between 0 and 1."),
     .spellings = message("probabilities"),
     .pytorch = "torch.softmax(logits, -1)",
     .tensors = "probs"},
    {.id = "generation",
     .name = message("generation"),
     .meaning = message("Writing a text token by token: the forward pass gives probabilities, one token is drawn and "
                        "appended, and the forward pass is repeated."),
     .spellings = message("Generate, generated")},
    {.id = "temperature",
     .name = message("temperature"),
     .meaning = message("What the logits are divided by before a token is drawn. Below 1 the likeliest tokens win more "
                        "often, above 1 the choice is wider; 0 always takes the first.")},
    {.id = "top-k", .name = message("top-k"), .meaning = message("Only the k likeliest tokens may be drawn.")},
    {.id = "top-p",
     .name = message("top-p"),
     .meaning = message("Only the likeliest tokens that together have the probability p may be drawn.")},
    {.id = "kv-cache",
     .name = message("KV cache"),
     .meaning = message("Generation keeps the keys and values of earlier positions: under a causal mask they never "
                        "change, so only those of the new token are computed."),
     .spellings = message("cache, append to the cache"),
     .pytorch = "past_key_values",
     .transformer_lens = "past_kv_cache"},
    {.id = "logit-lens",
     .name = message("Logit lens"),
     .meaning = message("What the model would predict if it ended after an earlier block: the final norm and the "
                        "language head, applied to the residual stream there."),
     .transformer_lens = "cache.accumulated_resid / unembed"},

    // ---- backward pass, training, causes
    {.id = "gradient",
     .name = message("gradient"),
     .meaning = message("How much a target would change per unit of a number: the slope at one point, which the "
                        "backward pass computes for every number of the run at once."),
     .spellings = message("gradients, slope, slopes, backward pass"),
     .pytorch = "torch.autograd.grad",
     .transformer_lens = "hook_z_grad"},
    {.id = "training",
     .name = message("training"),
     .meaning = message("Steps that each move all weights a little against their gradients, so that the loss falls."),
     .spellings = message("train, trainings, trained")},
    {.id = "optimiser",
     .name = message("optimiser"),
     .meaning = message("The rule by which weights follow their gradients: SGD takes them as they are, Adam divides "
                        "them by their usual size, AdamW also lets weights decay."),
     .spellings = message("SGD, Adam, AdamW"),
     .pytorch = "torch.optim"},
    {.id = "learning-rate",
     .name = message("learning rate"),
     .meaning = message("How far the weights move in one step of training."),
     .pytorch = "lr"},
    {.id = "warm-up",
     .name = message("warm-up"),
     .meaning = message("The first steps of training, in which the learning rate rises from 0 to its full size."),
     .pytorch = "torch.optim.lr_scheduler.LinearLR"},
    {.id = "clipping",
     .name = message("clip"),
     .meaning = message("To scale down all gradients of a step together if their norm exceeds a bound."),
     .spellings = message("clipped, clipping"),
     .pytorch = "torch.nn.utils.clip_grad_norm_"},
    {.id = "initialisation",
     .name = message("initialisation"),
     .meaning =
         message("The weights before any training. Xavier's rule draws a Linear's larger than PyTorch's default does."),
     .spellings = message("Xavier"),
     .pytorch = "torch.nn.init"},
    {.id = "cause",
     .name = message("cause"),
     .meaning = message("What changes a number when it is changed itself: found by intervening and running again, not "
                        "by looking at the run as it is."),
     .spellings = message("causes")},
    {.id = "patching",
     .name = message("activation patching"),
     .meaning = message("Replacing a row of one run by that of another, to see how much of the difference between them "
                        "passes through there."),
     .spellings = message("causal tracing, comes back"),
     .transformer_lens = "patching.get_act_patch_block_every"},
    {.id = "attribution",
     .name = message("direct logit attribution"),
     .meaning = message("A logit as a sum of what each head, each MLP and the embedding wrote into the residual "
                        "stream, along the direct path alone."),
     .transformer_lens = "cache.decompose_resid"},
    {.id = "integrated-gradients",
     .name = message("integrated gradients"),
     .meaning = message("The mean of the gradients along a path from off to on: it adds up to the real change, while "
                        "the gradient at one point may not even have its sign.")},

    // ---- what the window measures and does
    {.id = "edit",
     .name = message("edit"),
     .meaning = message("A change that you made to the run: a painted mask cell, a head that is off or scaled, a "
                        "number that you overwrote. Everything that depends on it is recomputed."),
     .spellings = message("edits"),
     .transformer_lens = "hook"},
    {.id = "difference",
     .name = message("Diff"),
     .meaning =
         message("This run compared with another, number by number: the run without edits, another configuration, "
                 "a pinned run, or a file from PyTorch."),
     .pytorch = "torch.testing.assert_close"},
    {.id = "tolerance",
     .name = message("tolerance"),
     .meaning = message("How far two numbers may differ and still count as equal."),
     .pytorch = "atol"},
    {.id = "entropy",
     .name = message("entropy"),
     .meaning =
         message("How spread out a head's weights are, in bits: 0 = all on one key, log2 n = uniform over n keys.")},
    {.id = "nan",
     .name = message("NaN"),
     .meaning = message("Not a number: the result of 0/0 or ∞ − ∞. Whatever is computed from it is NaN, too."),
     .pytorch = "torch.nan"},
    {.id = "length",
     .name = message("length"),
     .meaning = message("The size of a vector: the root of the sum of its squares (L2 norm)."),
     .spellings = message("L2 norm, L2 norms"),
     .pytorch = "torch.linalg.vector_norm"},
});

}  // namespace

std::span<const GlossaryTerm> glossary() { return kTerms; }

}  // namespace decoderscope::core::glossary
