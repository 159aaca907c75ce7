#include "app/core/generate/generator.h"

#include "app/core/run/edits.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core::generate {

namespace {

void check_row(const Inputs& inputs, Index row) {
    if (row < 0 || row >= inputs.batch())
        throw Error("batch row {row}: expected 0 to {highest}", {{"row", row}, {"highest", inputs.batch() - 1}});
}

// Makes every row one position longer, with padding that the mask hides.
void add_position(Inputs& inputs, Index pad) {
    const Index batch = inputs.batch(), pos = inputs.pos();
    const auto longer = [&](const Tensor& rows, float filler) {
        Tensor out({{axis::batch, batch}, {axis::pos, pos + 1}});
        float* to = out.writable().data();
        for (Index row = 0; row < batch; ++row) {
            to = rows.empty() ? std::fill_n(to, pos, 1.0F) : std::ranges::copy(rows.row({row, 0}), to).out;
            *to++ = filler;
        }
        return out;
    };
    inputs.attention_mask = longer(inputs.attention_mask, 0.0F);
    inputs.tokens = longer(inputs.tokens, static_cast<float>(pad));
    for (Tensor* numbers : {&inputs.positions, &inputs.segments})
        if (!numbers->empty()) *numbers = longer(*numbers, 0.0F);
}

void set(Tensor& rows, Index row, Index position, float value) {
    const Cell cell = {row, position};
    rows.writable()[static_cast<std::size_t>(rows.offset(cell))] = value;
}

// Puts a token where there was padding. It goes on after `last`, in the same document.
void put_token(Inputs& inputs, Index row, Index place, Index last, Index token) {
    set(inputs.tokens, row, place, static_cast<float>(token));
    set(inputs.attention_mask, row, place, 1.0F);
    const Cell before = {row, last};
    if (!inputs.positions.empty()) set(inputs.positions, row, place, inputs.positions.at(before) + 1.0F);
    if (!inputs.segments.empty()) set(inputs.segments, row, place, inputs.segments.at(before));
}

// Drops a mask that hides nothing.
void drop_open_mask(Tensor& mask) {
    if (!mask.empty() && std::ranges::all_of(mask.values(), [](float keep) { return keep == 1.0F; })) mask = Tensor();
}

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
    inputs.custom_mask = inputs.positions = inputs.segments = inputs.targets = {};
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

Index row_length(const Inputs& inputs, Index row) { return kept_length(inputs.attention_mask, row, inputs.pos()); }

std::vector<Index> row_tokens(const Inputs& inputs, Index row) {
    const std::span<const float> all = inputs.tokens.row({row, 0});
    const std::span<const float> kept = all.first(static_cast<std::size_t>(row_length(inputs, row)));
    return {kept.begin(), kept.end()};
}

Index generated_count(const Scenario& scenario, Index row) {
    const auto found = scenario.generated.find(row);
    if (found == scenario.generated.end() || scenario.inputs.tokens.empty() || row >= scenario.batch()) return 0;
    const std::vector<Index>&generated = found->second, tokens = row_tokens(scenario.inputs, row);
    const bool still_there =
        generated.size() < tokens.size() && std::equal(generated.rbegin(), generated.rend(), tokens.rbegin());
    return still_there ? static_cast<Index>(generated.size()) : 0;
}

Sentence generation_obstacle(const Scenario& scenario) {
    if (shown_pass(scenario) != nullptr)
        return message("This is one pass of a text that is computed in several: show the whole text to continue it.");
    const Config& config = scenario.config();
    if (config.vocab_size == 0)
        return message(
            "This model reads vectors, not tokens (vocab_size is 0): no token can be appended to its input.");
    if (!config.lm_head)
        return message(
            "This model has no language head (lm_head is false): it gives no probabilities for the next token.");
    if (!config.causal)
        return message(
            "This model is not causal: each position reads what follows it, so the model can't continue a text.");
    return {};
}

Sentence row_is_full(const Scenario& scenario, Index row) {
    const Index most = scenario.config().max_positions;
    if (most == 0 || row_length(scenario.inputs, row) < most) return {};
    return message("All {count} positions that this model knows (max_positions) are taken.", {{"count", most}});
}

bool has_ended(const Scenario& scenario, Index row) {
    const Index length = row_length(scenario.inputs, row);
    return length > 0 &&
           scenario.tokenizer().special().ends_at(static_cast<Index>(scenario.inputs.tokens.at(Cell{row, length - 1})));
}

Scenario with_token(Scenario scenario, Index row, Index token) {
    if (const Sentence obstacle = generation_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    Inputs& inputs = scenario.inputs;
    check_row(inputs, row);
    if (token < 0 || token >= scenario.config().vocab_size)
        throw Error("token {token}: expected an id from 0 to {highest}",
                    {{"token", token}, {"highest", scenario.config().vocab_size - 1}});
    if (const Sentence full = row_is_full(scenario, row); !full.empty()) throw Error(full);
    std::vector<Index>& generated = scenario.generated[row];
    generated.resize(static_cast<std::size_t>(generated_count(scenario, row)));
    inputs.targets = {};  // they are of the text as it was
    const Index place = row_length(inputs, row);
    if (place == inputs.pos()) add_position(inputs, scenario.tokenizer().special().pad.value_or(0));
    put_token(inputs, row, place, place - 1, token);
    drop_open_mask(inputs.attention_mask);
    generated.push_back(token);
    return scenario;
}

Inputs with_tokens(Inputs inputs, std::span<const Index> tokens) {
    std::vector<Index> last;
    for (Index row = 0; row < inputs.batch(); ++row) last.push_back(row_length(inputs, row) - 1);
    const Index place = inputs.pos();
    add_position(inputs, 0);
    for (std::size_t row = 0; row < tokens.size(); ++row)
        put_token(inputs, static_cast<Index>(row), place, last[row], tokens[row]);
    drop_open_mask(inputs.attention_mask);
    inputs.targets = {};  // they are of the text as it was
    return inputs;
}

Scenario without_last_token(Scenario scenario, Index row) {
    Inputs& inputs = scenario.inputs;
    if (inputs.tokens.empty()) throw Error(generation_obstacle(scenario));
    check_row(inputs, row);
    const Index last = row_length(inputs, row) - 1, pos = inputs.pos();
    if (last < 1) throw Error("batch row {row}: its only token can't be removed, expected two or more", {{"row", row}});
    std::vector<Index>& generated = scenario.generated[row];
    generated.resize(static_cast<std::size_t>(std::max<Index>(generated_count(scenario, row) - 1, 0)));
    inputs.attention_mask =
        with_kept_length(inputs.attention_mask, {{axis::batch, inputs.batch()}, {axis::pos, pos}}, row, last);
    set(inputs.tokens, row, last, static_cast<float>(scenario.tokenizer().special().pad.value_or(0)));
    Index longest = 0;
    for (Index b = 0; b < inputs.batch(); ++b) longest = std::max(longest, row_length(inputs, b));
    const InputsPart rest = {0, longest};
    inputs = part_of(inputs, rest);
    drop_open_mask(inputs.attention_mask);
    scenario.edits = edits_of_part(scenario, rest);
    return scenario;
}

std::optional<NextToken> next_token(const Scenario& scenario, const Run& run, Index row, const Sampling& sampling) {
    const Tensor& all = run.value("logits");  // [batch, pos, vocab]
    if (all.empty() || row >= all.dim(0)) return std::nullopt;
    const Index length = row_length(scenario.inputs, row), vocab = all.dim(2);
    if (length < 1 || length > all.dim(1)) return std::nullopt;
    // The logits of the last position may be ready before all others.
    const Tensor logits = all.is_ready() ? all : rows_from(all, length - 1);
    const Cell first = {row, length - 1 - (all.dim(1) - logits.dim(1)), 0};
    const auto from = static_cast<std::size_t>(logits.offset(first));
    return next_token(logits.values().subspan(from, static_cast<std::size_t>(vocab)), sampling);
}

CachedText::CachedText(Scenario scenario, Index row, bool cached)
    : scenario_(row_of(std::move(scenario), row)), cached_(cached && scenario_.mutation.empty()) {}

Tensor CachedText::last_logits(Index count) {
    // The cache may hold what is asked for: of a draft whose tokens were all accepted.
    past_ = decoder::first_of(std::move(past_), std::min(past_.positions, length() - count));
    if (!decoder::can_continue(past_, scenario_.config(), length() - past_.positions)) past_ = {};
    const InputsPart part = {past_.positions, length() - past_.positions};
    static const std::vector<std::string> logits_last = {"logits"};
    const auto plan = plan_of_part(scenario_, part, past_.positions > 0 ? &past_ : nullptr);
    const auto run = count == 1 ? execute(plan, {.last_row_first = logits_last}) : execute(plan);
    computed_positions_ += part.count;
    if (cached_) past_ = decoder::past_of(*run);
    return rows_from(run->value("logits"), part.count - count);
}

void CachedText::take_back(Index count) {
    for (Index i = 0; i < count; ++i) scenario_ = without_last_token(std::move(scenario_), 0);
    past_ = decoder::first_of(std::move(past_), std::min(past_.positions, length()));
}

void CachedText::append(Index token) { scenario_ = with_token(std::move(scenario_), 0, token); }

Generator::Generator(Scenario scenario, Index row, Sampling sampling, bool cached)
    : text_(std::move(scenario), row, cached), row_(row), sampling_(sampling) {
    check_sampling(sampling_);
}

std::optional<Index> Generator::next() {
    if (text_.ended() || !text_.why_full().empty()) return std::nullopt;
    const Tensor logits = text_.next_logits();
    const auto vocab = static_cast<std::size_t>(logits.dim(2));
    const std::optional<Index> token = drawn_from(logits.values().last(vocab), text_.length());
    if (!token)
        throw Error("logits: NaN or ∞ after position {length}, expected numbers", {{"length", text_.length() - 1}});
    text_.append(*token);
    return token;
}

std::optional<Index> Generator::drawn_from(std::span<const float> logits, Index position) const {
    if (sampling_.temperature == 0.0) return greedy_token(logits);
    const auto choice = next_token(logits, sampling_);
    if (!choice) return std::nullopt;
    return choice->candidates[draw(*choice, sampling_number(sampling_.seed, row_, position)).rank].token;
}

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
