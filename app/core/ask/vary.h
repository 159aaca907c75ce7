#pragma once

#include "app/core/ask/watch.h"
#include "app/core/run/labels.h"
#include "app/core/run/scenario.h"
#include "app/core/train/step_models.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What is varied, and the runs that this makes.
namespace decoderscope::core::ask {

// The number that a formula of probabilities names, by custom.
inline constexpr std::string_view kTemperature = "temperature";

// How many runs a sweep has at most.
inline constexpr std::size_t kMostPoints = 10'000;

// Where along what is varied a run is: "0.5", "blocks.0.attn head 3".
struct At {
    Sentence text;
    std::optional<double> number = std::nullopt;  // if it is one
    bool is_value = false;  // of what varies: "norm_first = true"; otherwise it says all by itself
};

// A continuation of the text that is drawn, in each row of the batch.
struct Sample {
    std::optional<std::uint64_t> seed = std::nullopt;  // nothing: the text doesn't go on
    Index length = 16;                                 // tokens at most
    double temperature = 1.0;                          // 0: the greedy one
};

// One run of a sweep: how it differs from the unswept one.
struct Point {
    std::vector<At> at;  // one for each thing that is varied
    Variation variation;
    Numbers numbers;                                                 // in the row's formula
    std::optional<Index> training_step = std::nullopt;               // the weights are those after it
    train::TrainingPoint training = {};                              // of which training, but for the step
    std::function<std::shared_ptr<const load::Model>()> model = {};  // another one; empty: the unswept one
    std::function<Inputs(Inputs)> inputs = {};                       // others; empty: the unswept ones
    Sample sample = {};                                              // what follows them

    // Whether only the row's formula is another.
    [[nodiscard]] bool is_same_pass() const {
        return !numbers.empty() && variation == Variation() && !training_step && !model && same_text();
    }
    // Whether its text is as long as it was.
    [[nodiscard]] bool same_text() const { return !inputs && !sample.seed; }
};

// The points of a sweep, each made when it is asked for.
struct Points {
    std::vector<std::string> varied;  // what is, as a table calls it: "attention_scale", "head"
    std::size_t count = 0;
    std::function<Point(std::size_t)> at;
    std::size_t columns = 0;  // of several things that vary: how many values the last one has
    bool leave_out = false;   // each of them leaves something out
    std::size_t off = 0;      // what adds nothing as it is, and is left out of them
};

// What the points are of: a scenario, its run, and the row that is watched.
struct Unswept {
    Scenario scenario;
    std::shared_ptr<const Run> run;
    Row row;
    train::ModelsByStep trained = {};  // empty if no training is described
};

// Reads what is varied:
//
// - "KEY=A..B:N", N values from A to B, or "KEY=x,y,z", where KEY is a key of the configuration, "dropout_seed",
//   "training_step" and, together with it, "training_seed", "batch_seed" and "learning_rate", a cell such as
//   "blocks.0.attn.z[0, 1, 2, 3]" (a weight's and an input's, too), a head's factor, "blocks.0.attn.head.3", or a
//   number that the row's formula names and nothing else defines, such as "temperature". "sample=0..19:20" continues
//   the text with tokens that each of these seeds draws, "sample_length" of them (16) at "sample_temperature" (1; 0 is
//   greedy): the row is of the longer text.
// - "each head": without it. "each averaged head": with the mean of its output, over positions and batch, in its place;
//   "each head averaged as in other": with its mean in the other run, that rows read as "other.x".
//   "each parameter": a tensor of weights, which the row reads under this name, as in max(abs(grad.parameter)).
//   "each layer": without what its sublayers add to the stream. "each exchanged layer": its weights and the next one's
//   exchanged. "each neuron": its activation 0 at every position. "each weight of TENSOR": 0. Behind a head or a weight
//   may stand a factor other than 0: "each head times 2". "each position" or "each token": hidden from all others;
//   "each source position" or "each source letter": the encoder's. Behind "of" may stand the part they are in: "each
//   head of blocks.0.attn".
// - "each replaced token" or "each replaced source token": with each of some others in its place; "each other token"
//   and "each other source token": with each other one of the vocabulary. "each inserted token": some, before each
//   position and behind the last.
//
// Each kind is an entry of a table (vary.cpp). Throws Error saying what was expected.
[[nodiscard]] Points points_of(std::string_view what, const Unswept& unswept);

// Every combination of several, each read as above, the last varied fastest. Throws Error if there are too many, if
// nothing would differ (seeds of a dropout that is 0), or if seeds of a training vary and its step isn't said.
[[nodiscard]] Points points_of(std::span<const std::string> things, const Unswept& unswept);

// "each head", "each layer", …
[[nodiscard]] std::vector<std::string> names_of_each();

// ---- tokens in place of others

// A token of the input, and another one that is put in its place.
struct ReplacedToken {
    bool in_source = false;  // of the encoder's text
    Index batch = 0, position = 0, before = 0, after = 0;
};

// Whether a token is one that a text is made of, rather than a mark of its beginning, its end or padding.
[[nodiscard]] bool is_ordinary(const tokenizer::Tokenizer& tokenizer, Index token);

// Every token of a sequence that isn't padding, with up to `each` ordinary ones in its place that are spread over the
// vocabulary; position by position. None if the model reads no tokens of this sequence.
[[nodiscard]] std::vector<ReplacedToken> replaced_tokens(const Scenario& scenario, const Run& run,
                                                         TokenSequence sequence, Index each);

[[nodiscard]] SetCell edit_of(const ReplacedToken& replaced);

}  // namespace decoderscope::core::ask
