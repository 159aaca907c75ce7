#include "app/core/generate/generator.h"

#include "app/core/generate/cached_passes.h"
#include "app/core/generate/generation.h"
#include "app/core/run/edits.h"
#include "engine/base/error.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core::generate {

namespace {

Scenario row_of(Scenario scenario, Index row) {
    if (const Sentence obstacle = generation_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    const InputsPart whole = {0, row_length(scenario.inputs, row), row};
    scenario.edits = edits_of_part(scenario, whole);
    scenario.inputs = part_of(scenario.inputs, whole);
    scenario.generated.clear();
    return scenario;
}

// The scenario with targets that only begin: with the beginning token, otherwise with the token that they begin with
// now.
Scenario begun(Scenario scenario) {
    Inputs& inputs = scenario.inputs;
    const tokenizer::SpecialTokens special = scenario.tokenizer().special();
    TokenRows rows;
    for (Index row = 0; row < inputs.batch(); ++row)
        rows.push_back({special.beginning.value_or(static_cast<Index>(inputs.tokens.at(Cell{row, 0})))});
    TokenBatch batch = padded_batch(rows, axis::pos, special.pad.value_or(0));
    inputs.tokens = std::move(batch.tokens);
    inputs.attention_mask = std::move(batch.mask);
    inputs.custom_mask = {};
    inputs.targets = {};
    scenario.generated.clear();
    scenario.dropout_seed.reset();
    scenario.gradient_target.clear();
    const std::vector<Edit> edits = std::exchange(scenario.edits, {});
    scenario.edits = fitting_edits(scenario, edits);
    return scenario;
}

Index source_length(const Inputs& inputs) {
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    return source.empty() ? 0 : source.dim(1);
}

// How many rows the source has. Rows at its end that only begin were added to make it as long as the old target.
Index written_rows(const Scenario& scenario) {
    const Tensor& source = scenario.inputs.encoder_tokens;
    const TokenRows rows = rows_of(source, scenario.inputs.encoder_attention_mask);
    const std::optional<Index> beginning = scenario.encoder_tokenizer().special().beginning;
    if (rows.empty() || !beginning) return scenario.batch();
    std::size_t count = rows.size();
    while (count > 1 && rows[count - 1] == TokenRows::value_type{*beginning}) --count;
    return static_cast<Index>(count);
}

}  // namespace

Generator::Generator(Scenario scenario, Index row, Sampling sampling, bool cached)
    : scenario_(row_of(std::move(scenario), row)),
      row_(row),
      sampling_(sampling),
      cached_(cached && scenario_.mutation.empty()) {
    check_sampling(sampling_);
}

std::optional<Index> Generator::next() {
    const Index length = scenario_.inputs.pos();
    if (has_ended(scenario_, 0) || !row_is_full(scenario_, 0).empty()) return std::nullopt;
    if (!decoder::can_continue(past_, scenario_.config(), length - past_.positions)) past_ = {};
    const InputsPart part = {past_.positions, length - past_.positions};
    static const std::vector<std::string> logits_last = {"logits"};
    const auto run =
        execute(plan_of_part(scenario_, part, past_.positions > 0 ? &past_ : nullptr), {.last_row_first = logits_last});
    computed_positions_ += part.count;
    if (cached_) past_ = decoder::past_of(*run);
    const Tensor logits = rows_from(run->value("logits"), part.count - 1);  // [1, 1, vocab]
    const auto vocab = static_cast<std::size_t>(logits.dim(2));
    const std::optional<Index> token = drawn_from(logits.values().last(vocab), length);
    if (!token) throw Error("logits: NaN or ∞ after position {length}, expected numbers", {{"length", length - 1}});
    scenario_ = with_token(std::move(scenario_), 0, *token);
    return token;
}

std::optional<Index> Generator::drawn_from(std::span<const float> logits, Index position) const {
    if (sampling_.temperature == 0.0) return greedy_token(logits);
    const auto choice = next_token(logits, sampling_);
    if (!choice) return std::nullopt;
    return choice->candidates[draw(*choice, sampling_number(sampling_.seed, row_, position)).rank].token;
}

std::vector<Index> Generator::tokens() const { return row_tokens(scenario_.inputs, 0); }

Sentence writing_obstacle(const Scenario& scenario) {
    if (Sentence obstacle = generation_obstacle(scenario); !obstacle.empty()) return obstacle;
    if (scenario.config().cross_attention && source_length(scenario.inputs) > 0 && !scenario.inputs.tokens.empty())
        return {};
    return message("This model has no source: it continues its input instead, in the Generate tab.");
}

Index most_written(const Scenario& scenario) {
    const Index known = scenario.config().max_positions, most = 2 * source_length(scenario.inputs) + 16;
    return known > 0 ? std::min(most, known - 1) : most;
}

Resumable<WrittenTarget> written_target(Scenario scenario, std::stop_token stop) {
    if (const Sentence obstacle = writing_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    const tokenizer::SpecialTokens special = scenario.tokenizer().special();
    const Index most = most_written(scenario);
    const Index rows = written_rows(scenario);
    const Scenario start = begun(std::move(scenario));
    WrittenTarget written;
    for (Index row = 0; row < rows; ++row) {
        Generator generator(start, row, {.temperature = 0.0});
        bool ended = false;
        for (Index count = 0; count < most && !ended && !stop.stop_requested(); ++count) {
            const std::optional<Index> token = generator.next();
            ended = !token || special.ends_at(*token);
            co_yield kPause;
        }
        written.rows.push_back(generator.tokens());
        if (written.rows.back().size() > 1 && special.ends_at(written.rows.back().back()))
            written.rows.back().pop_back();
        if (!ended) ++written.unfinished;
    }
    co_return written;
}

void TargetWriter::start(Scenario scenario, std::uint64_t changes) {
    job_.forget();
    changes_ = changes;
    job_.start([scenario = std::move(scenario)](std::stop_token stop) { return written_target(scenario, stop); });
}

void TargetWriter::stop() {
    job_.forget();
    changes_.reset();
}

std::optional<WrittenTarget> TargetWriter::collect(std::uint64_t changes) {
    if (!changes_) return std::nullopt;
    if (*changes_ != changes) {
        stop();
        return std::nullopt;
    }
    std::optional<WrittenTarget> written;
    try {
        written = job_.collect();
    } catch (...) {
        changes_.reset();
        throw;
    }
    if (written) changes_.reset();
    return written;
}

}  // namespace decoderscope::core::generate
