#include "engine/load/bundled_models.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/random.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/assets.h"
#include "engine/load/example_file.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::load {

namespace {

// ---- the trained ones

// Its description is stored with its weights; if they are missing, the description says so.
BundledModel card_of_trained(std::string_view name) {
    try {
        const std::string path = trained_model_folder(name) + "/example.json";
        const ExampleFile example = naming(path, [&] { return parse_example_file(read_text(path)); });
        return {std::string(name), example_text(example.description)};
    } catch (const Error& missing) {
        return {std::string(name), missing.sentence()};
    }
}

std::shared_ptr<const Model> load_trained(std::string_view name) {
    Model model = *load_model(trained_model_folder(name));
    model.name = name;
    return std::make_shared<const Model>(std::move(model));
}

// ---- tensors of an example

// A tensor whose numbers are drawn one by one from the random stream of its name.
template <class Draw>
Tensor random_tensor(std::uint64_t seed, std::string_view name, Axes axes, Draw draw) {
    const RandomStream random(seed, name);
    Tensor tensor(std::move(axes));
    std::uint64_t i = 0;
    for (float& value : tensor.writable()) value = static_cast<float>(draw(random, i++));
    return tensor;
}

Tensor uniform(std::uint64_t seed, std::string_view name, Axes axes) {
    return random_tensor(seed, name, std::move(axes),
                         [](const RandomStream& random, std::uint64_t i) { return random.uniform(i); });
}

Tensor normal(std::uint64_t seed, std::string_view name, Axes axes) {
    return random_tensor(seed, name, std::move(axes),
                         [](const RandomStream& random, std::uint64_t i) { return random.normal(i); });
}

Tensor random_tokens(std::uint64_t seed, std::string_view name, Axes axes, Index vocab_size) {
    return random_tensor(seed, name, std::move(axes), [=](const RandomStream& random, std::uint64_t i) {
        return std::floor(random.uniform(i) * static_cast<double>(vocab_size));
    });
}

Axes target(Index batch, Index pos) { return {{axis::batch, batch}, {axis::pos, pos}}; }
Axes source(Index batch, Index src) { return {{axis::batch, batch}, {axis::src, src}}; }
Axes with_width(Axes axes, Index d_model) {
    axes.push_back({axis::d_model, d_model});
    return axes;
}

// ---- the tutorials' decoders, at their own sizes

struct Recipe {
    BundledModel card;
    std::string config_json;
    std::uint64_t seed;
    Inputs (*example)(std::uint64_t seed);
};

// For simple-decoder and causal-lm: three rows of four, the second and third padded.
Tensor three_rows_mask() { return {target(3, 4), {1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0}}; }

Inputs simple_decoder_example(std::uint64_t seed) {
    return {.x = uniform(seed, "x", with_width(target(3, 4), 64)), .attention_mask = three_rows_mask()};
}

Inputs causal_lm_example(std::uint64_t seed) {
    return {.tokens = random_tokens(seed, "tokens", target(3, 4), 12), .attention_mask = three_rows_mask()};
}

// The Pre-Norm tutorial's masks have 1 for padding; here, as everywhere in this program, 1 means kept.
Inputs pre_ln_encdec_example(std::uint64_t seed) {
    return {.x = normal(seed, "x", with_width(target(2, 6), 512)),
            .memory = normal(seed, "memory", with_width(source(2, 8), 512)),
            .attention_mask = {target(2, 6), {1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0}},
            .encoder_attention_mask = {source(2, 8), {1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0}}};
}

Inputs pre_ln_layer_example(std::uint64_t seed) {
    return {.x = normal(seed, "x", with_width(target(1, 6), 64)),
            .memory = normal(seed, "memory", with_width(source(1, 8), 64))};
}

Inputs post_ln_encdec_example(std::uint64_t seed) {
    return {.tokens = random_tokens(seed, "tokens", target(2, 7), 24),
            .encoder_tokens = random_tokens(seed, "encoder_tokens", source(2, 7), 24),
            .attention_mask = {target(2, 7), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}},
            .encoder_attention_mask = {source(2, 7), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0}}};
}

const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> table = {
        {{"causal-lm-as-meant",
          message("The tutorial's causal language model as its text intends it: 5 Post-Norm blocks over 12 tokens, "
                  "separate projections for q, k and v, and dropout after the softmax.")},
         R"({"model_type": "decoderscope", "d_model": 64, "nhead": 8, "num_layers": 5, "dim_feedforward": 256,
             "layer_norm_eps": 1e-6, "vocab_size": 12, "lm_head": true, "mask_value": "-inf",
             "dropout": 0.1, "dropout_sites": ["attention_weights", "mlp_out"]})",
         1,
         causal_lm_example},
        {{"causal-lm",
          message("The tutorial with the shared projection, as written: q, k and v all use q_proj (k_proj and v_proj "
                  "stay unused), and dropout comes before the softmax, where a dropped -inf becomes NaN.")},
         R"({"model_type": "decoderscope", "d_model": 64, "nhead": 8, "num_layers": 5, "dim_feedforward": 256,
             "layer_norm_eps": 1e-6, "vocab_size": 12, "lm_head": true, "mask_value": "-inf", "shared_qkv": true,
             "dropout": 0.1, "dropout_sites": ["attention_scores", "mlp_out"]})",
         1,
         causal_lm_example},
        {{"simple-decoder", message("The smallest tutorial: one Post-Norm block of 8 heads on 3 rows of 4 positions, "
                                    "two of them padded; masked scores become -1e20.")},
         R"({"model_type": "decoderscope", "d_model": 64, "nhead": 8, "num_layers": 1, "dim_feedforward": 256,
             "mask_value": "-1e20", "dropout": 0.1, "dropout_sites": ["attention_weights", "mlp_out"]})",
         0,
         simple_decoder_example},
        {{"pre-ln-encdec", message("The Pre-Norm tutorial: 4 blocks with cross-attention to a memory of 8 positions, "
                                   "d_model 512, a final norm. Its masks have 1 for padding; here 1 is what is kept. "
                                   "It imports its attention, so the fill of -1e9 is our choice.")},
         R"({"model_type": "decoderscope", "d_model": 512, "nhead": 8, "num_layers": 4, "dim_feedforward": 2048,
             "norm_first": true, "final_norm": true, "cross_attention": true, "mask_value": "-1e9",
             "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_out"]})",
         2,
         pre_ln_encdec_example},
        {{"pre-ln-layer", message("The tutorial of one Pre-Norm decoder layer: self-attention, cross-attention, MLP. "
                                  "It gives no sizes; these are our choice. It normalises x three times, for q, k and "
                                  "v: the same numbers, computed once here.")},
         R"({"model_type": "decoderscope", "d_model": 64, "nhead": 4, "num_layers": 1, "dim_feedforward": 256,
             "norm_first": true, "cross_attention": true, "mask_value": "-inf",
             "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_post", "mlp_out"]})",
         3,
         pre_ln_layer_example},
        {{"post-ln-encdec",
          message("The encoder-decoder tutorial as its diagram shows it: embedding, positions, 2 Post-Norm blocks with "
                  "cross-attention to a 2-layer encoder, final norm, probabilities; the sizes are our choice. Its code "
                  "reshapes k and v by the query's length, so it only runs where source and target have the same "
                  "length (here they have, but need not), and on batch-first input its positional encoding adds the "
                  "code of the batch index; here it is that of the position.")},
         R"({"model_type": "decoderscope", "d_model": 64, "nhead": 4, "num_layers": 2, "encoder_layers": 2,
             "dim_feedforward": 256, "final_norm": true, "cross_attention": true, "vocab_size": 24,
             "encoder_vocab_size": 24, "positional_encoding": "sinusoidal", "lm_head": true, "mask_value": "-1e9",
             "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_out"]})",
         4,
         post_ln_encdec_example},
    };
    return table;
}

}  // namespace

const std::vector<BundledModel>& bundled_models() {
    static const std::vector<BundledModel> cards = [] {
        std::vector<BundledModel> list;
        for (const std::string_view name : trained_models()) list.push_back(card_of_trained(name));
        for (const Recipe& recipe : recipes()) list.push_back(recipe.card);
        return list;
    }();
    return cards;
}

std::shared_ptr<const Model> make_bundled_model(std::string_view name) {
    if (std::ranges::find(trained_models(), name) != trained_models().end()) return load_trained(name);
    const auto found = std::find_if(recipes().begin(), recipes().end(),
                                    [&](const Recipe& recipe) { return recipe.card.name == name; });
    if (found == recipes().end()) return nullptr;
    Model model{{.name = found->card.name, .description = found->card.description}, found->config_json};
    model.weights = decoder::initial_weights(model.config(), found->seed);
    model.example = found->example(found->seed);
    return std::make_shared<const Model>(std::move(model));
}

Inputs example_inputs(const Config& config, std::uint64_t seed) {
    constexpr Index kLength = 8;
    const Index pos = config.max_positions > 0 ? std::min(kLength, config.max_positions) : kLength;
    Inputs inputs;
    if (config.vocab_size > 0)
        inputs.tokens = random_tokens(seed, "tokens", target(1, pos), config.vocab_size);
    else
        inputs.x = normal(seed, "x", with_width(target(1, pos), config.d_model));
    if (!config.cross_attention) return inputs;
    if (config.encoder_layers > 0 && config.encoder_vocab_size > 0)
        inputs.encoder_tokens = random_tokens(seed, "encoder_tokens", source(1, pos), config.encoder_vocab_size);
    else
        inputs.memory = normal(seed, "memory", with_width(source(1, pos), config.d_model));
    return inputs;
}

// The texts of the bundled models' example.json repeated as messages, so that they are collected and translated. A test
// checks that none is forgotten: tests/engine/test_bundled_texts.cpp

namespace {

constexpr auto kTexts = std::to_array<Phrase>({
    message("Writes a word backwards. Encoder and decoder of 2 Pre-Norm blocks each, trained on letters: "
            "cross-attention reads the word from its end."),
    message("See where the second letter comes from"),
    message("The highlighted row writes the second letter. The highlighted cell shows what it attends to: the last "
            "letter but one of the word. On the right you see how that weight was computed."),
    message("Switch off the heads that reverse"),
    message("All four heads of the last cross-attention are off, and the model can no longer read the word: the marks "
            "below the target show which letters it gets wrong now. Any one of them alone could go without a mistake. "
            "Undo (Ctrl+Z) switches them on again."),
    message("Flip Pre-Norm to Post-Norm"),
    message("The same weights as Post-Norm: the curves show what that does by depth. The model was trained as Pre-Norm "
            "and makes mistakes now; undo (Ctrl+Z) flips it back."),
    message("The same as reverse with Post-Norm, trained in the same way, so that the two can be compared."),
    message("Flip Post-Norm to Pre-Norm"),
    message("The same weights as Pre-Norm: the curves show what that does by depth. The model was trained as Post-Norm "
            "and makes mistakes now; undo (Ctrl+Z) flips it back."),
    message("Writes a date the way ISO 8601 does. Encoder and decoder of 2 Pre-Norm blocks each, trained on seven "
            "spellings: cross-attention goes to the year, the month and the day, wherever they stand."),
    message("See where the month comes from"),
    message(
        "The highlighted row writes the 7 of the month. The highlighted cell shows what it attends to: the word July."),
    message("See the same in another spelling"),
    message("The same digit of the same day, written 20.7.1969: now it looks at the 7."),
    message("Switch off all cross-attention"),
    message("All eight heads that look at the date are off: the marks below the target show which digits the model can "
            "no longer know. With one head off it makes no mistake. Undo (Ctrl+Z) switches them on again."),
    message("Continues what it has seen before. 2 layers of attention alone, trained on strings of letters that come "
            "twice: an induction head looks one past where the letter stood before."),
    message("See the induction head look back"),
    message("The highlighted row is the g of the second “algorithm”. The highlighted cell shows what it attends to: "
            "the letter that followed the first g, which is what comes next."),
    message("Switch off the heads that it relies on"),
    message("All heads of the first layer are off, and the stripe below the diagonal is gone: no key knows any more "
            "which letter comes before it. Undo (Ctrl+Z) brings them back."),
    message("See which letter comes next"),
    message("The bars are the model's probabilities. Next draws a letter and appends it."),
    message("Writes Bible verses, a character at a time. A GPT of 4 Pre-Norm blocks, trained on the King James Bible: "
            "it knows spelling, words and a little grammar."),
    message("See the head that looks one letter back"),
    message("Nearly all weight lies just below the diagonal: each letter looks at the one before it. Press ↓ for the "
            "same step in the next layer."),
    message("Let it write the next letter"),
    message("Switch that head off"),
    message(
        "Head 3 of the first layer is off: the marks below the text show which letters the model predicts otherwise "
        "now. Undo (Ctrl+Z) switches it on again."),
    message(
        "Continues rows of three kinds: digits add up, small letters keep their step, capitals lengthen it. 2 layers "
        "with 6 experts each, of which every character gets 2: each expert works for one kind."),
    message("See which character goes to which expert"),
    message("Each row of the picture is an expert, each column a character: digits, small letters and capitals go to "
            "experts of their own."),
    message("Switch off the experts of the digits"),
    message("The routers can't choose them any more, so that digits go to experts that never saw one: the marks below "
            "the text show which digits the model gets wrong now. Letters stay right. Undo (Ctrl+Z) switches them on "
            "again."),
});

}  // namespace

Sentence example_text(std::string_view text) {
    const auto found =
        std::ranges::find(kTexts, text, [](const Phrase& phrase) { return std::string_view(phrase.english()); });
    return found == kTexts.end() ? Sentence::verbatim(text) : Sentence(*found);
}

}  // namespace decoderscope::load
