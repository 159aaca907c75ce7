#include "app/core/generate/shown_generation.h"

#include "app/core/generate/generator.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::core::generate {

namespace {

constexpr Index kBytes = 4;  // of a float32

// The numbers per position of k or v [batch, kv_head, pos, d_head].
Index numbers_of(Ref rows) { return rows == nullptr ? 0 : rows->axes[1].size * rows->axes[3].size; }

constexpr std::size_t kShown = 5;

LensCell most_probable(std::span<const float> probabilities) {
    LensCell cell;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const float p = probabilities[i];
        if (std::isnan(p)) return {};
        if (cell.top.size() == kShown && p <= cell.top.back().second) continue;
        const auto place = std::find_if(cell.top.begin(), cell.top.end(), [&](const auto& t) { return p > t.second; });
        cell.top.emplace(place, static_cast<Index>(i), p);
        if (cell.top.size() > kShown) cell.top.pop_back();
    }
    return cell;
}

std::size_t settled_at(const LensTable& table, std::size_t position) {
    std::size_t settled = table.output();
    const LensCell& final_cell = table.rows[settled].cells[position];
    for (std::size_t row = settled; row-- > 0;) {
        if (table.rows[row].fitted) continue;
        if (!table.rows[row].cells[position].agrees_with(final_cell)) break;
        settled = row;
    }
    return settled;
}

// KL(p ‖ q), bits: 0 where p is 0, infinite where only q is.
double divergence(std::span<const float> p, std::span<const float> q) {
    double bits = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (const auto at = static_cast<double>(p[i]); at != 0.0)
            bits += at * std::log2(at / static_cast<double>(q[i]));
    return bits;
}

// How many numbers a slice reads.
constexpr Index kReadInASlice = 2'000'000;

Resumable<LensTable> read_lens(std::shared_ptr<const Run> run, Index row, Index length) {
    LensReading reading(std::move(run), row, length);
    while (!reading.advance(kReadInASlice)) co_yield kPause;
    co_return reading.table();
}

std::string probability(double p) { return short_number_text(p, 3); }

Sentence likeliest(const NextToken& next, const PieceOf& piece) {
    const Candidate& first = next.candidates.front();
    return message("The likeliest next token is “{token}”: logit {logit}, probability {probability}.",
                   {{"token", piece(first.token)},
                    {"logit", short_number_text(static_cast<double>(first.logit), 4)},
                    {"probability", probability(first.before)}});
}

// How far the first is ahead of the second, and what the softmax makes of that.
Sentence lead(const NextToken& next, const PieceOf& piece) {
    const double ahead = static_cast<double>(next.candidates[0].logit) - static_cast<double>(next.candidates[1].logit);
    return message(
        "Its logit is {ahead} above that of “{second}”; the softmax makes that {odds} times the probability.",
        {{"ahead", short_number_text(ahead, 4)},
         {"second", piece(next.candidates[1].token)},
         {"odds", short_number_text(std::exp(ahead), 3)}});
}

Sentence cuts(const ShownNextToken& shown) {
    const NextToken& next = *shown.next;
    const std::string all = grouped(static_cast<Index>(next.candidates.size()));
    const std::string temperature = short_number_text(shown.sampling.temperature, 3);
    if (next.kept == next.candidates.size())
        return message("At temperature {temperature} all {all} tokens may be drawn.",
                       {{"temperature", temperature}, {"all", all}});
    return message_n("At temperature {temperature}, top-k and top-p leave {count} token of {all}.",
                     "At temperature {temperature}, top-k and top-p leave {count} tokens of {all}.", next.kept,
                     {{"temperature", temperature}, {"all", all}});
}

Sentence drawn(const ShownNextToken& shown, const PieceOf& piece) {
    const Candidate& candidate = shown.next->candidates[shown.draw.rank];
    return message("Seed {seed} draws {number}, which falls on “{token}”: from {from} to {to}.",
                   {{"seed", shown.sampling.seed},
                    {"number", fixed_text(shown.number, 4)},
                    {"token", piece(candidate.token)},
                    {"from", fixed_text(shown.draw.from, 4)},
                    {"to", fixed_text(shown.draw.to, 4)}});
}

// "the embedding", "block 1", "block 1 (fitted lens)".
Sentence place_of(const LensTable::Row& row) {
    const Sentence place = row.at == "embed"
                               ? Sentence(message("the embedding"))
                               : message("block {number}", {{"number", row.at.substr(row.at.rfind('.') + 1)}});
    return row.fitted ? message("{place} (fitted lens)", {{"place", place}}) : place;
}

constexpr std::size_t most_candidates = 24;

std::string piece_of(const Scenario& scenario, Index token) { return token_text(scenario.tokenizer(), token); }

// The tokens at the positions of a row.
std::vector<std::string> row_labels_of(const Scenario& scenario, Index row, Index length) {
    std::vector<std::string> labels;
    for (Index i = 0; i < length; ++i) {
        const Cell cell = {row, i};
        labels.push_back(piece_of(scenario, static_cast<Index>(scenario.inputs.tokens.at(cell))));
    }
    return labels;
}

}  // namespace

CacheSize cache_size(const Plan& plan) {
    CacheSize size;
    const auto layers = static_cast<Index>(plan.blocks(StackKind::decoder).size());
    for (Index layer = 0; layer < layers; ++layer) {
        const std::string attention = cached_attention(plan, layer);
        const Index whole = numbers_of(plan.step_of(attention, AttentionStep::key)) +
                            numbers_of(plan.step_of(attention, AttentionStep::value));
        size.with_k_and_v += whole;
        const Ref latent = plan.step_of(attention, AttentionStep::kv_latent);
        if (latent == nullptr) {
            size.kept += whole;
            continue;
        }
        const Ref shared = plan.step_of(attention, AttentionStep::k_shared);
        size.latent = latent->axes.back().size;
        size.shared = shared == nullptr ? 0 : shared->axes.back().size;
        size.kept += size.latent + size.shared;
    }
    return size;
}

Sentence latent_cache_sentence(const CacheSize& size, Index rows, Index layers) {
    return message_n(
        "Kept {count} row × ({latent} latent + {shared} shared numbers) × {layers} layers = {numbers} numbers, {bytes} "
        "bytes; k and v, which are made from them only to be looked at, would take {others} numbers, {other_bytes} "
        "bytes",
        "Kept {count} rows × ({latent} latent + {shared} shared numbers) × {layers} layers = {numbers} numbers, "
        "{bytes} bytes; k and v, which are made from them only to be looked at, would take {others} numbers, "
        "{other_bytes} bytes",
        rows,
        {{"latent", size.latent},
         {"shared", size.shared},
         {"layers", layers},
         {"numbers", grouped(rows * size.kept)},
         {"bytes", grouped(rows * size.kept * kBytes)},
         {"others", grouped(rows * size.with_k_and_v)},
         {"other_bytes", grouped(rows * size.with_k_and_v * kBytes)}});
}

LensReading::LensReading(std::shared_ptr<const Run> run, Index row, Index length)
    : run_(std::move(run)), row_(row), length_(length) {
    for (const Step& step : run_->plan().steps()) {
        if (step.lens.empty() || !step.operation.traits().sums_to_one) continue;
        probabilities_.push_back(&step);
        table_.rows.push_back({step.lens, step.part == Part::fitted_lens});
    }
}

std::size_t LensTable::output() const {
    std::size_t last = rows.size() - 1;
    while (last > 0 && rows[last].fitted) --last;
    return last;
}

bool LensReading::advance(Index numbers) {
    const Index cells = static_cast<Index>(probabilities_.size()) * length_;
    for (Index read = 0; next_ < cells && read < numbers; ++next_) {
        const auto at = static_cast<std::size_t>(next_ / length_);
        const Tensor& probs = run_->value(probabilities_[at]->id);  // [batch, pos, vocab]
        const Cell here = {row_, next_ % length_, 0};
        table_.rows[at].cells.push_back(most_probable(probs.row(here)));
        const Tensor& output = run_->value(probabilities_[table_.output()]->id);
        table_.rows[at].apart += divergence(output.row(here), probs.row(here)) / static_cast<double>(length_);
        read += probs.dim(2);
    }
    if (next_ < cells) return false;
    if (table_.settled.empty() && !table_.rows.empty())
        for (Index position = 0; position < length_; ++position)
            table_.settled.push_back(settled_at(table_, static_cast<std::size_t>(position)));
    return true;
}

Value<ShownNextToken> shown_next_token(Derived& derived, const Scenario& scenario,
                                       const std::shared_ptr<const Run>& run, Index row, const Sampling& sampling) {
    return derived.get<ShownNextToken>({run}, std::tie(row, sampling), [&] {
        ShownNextToken made = {.sampling = sampling};
        made.next = next_token(scenario, *run, row, sampling);
        made.number = sampling_number(sampling.seed, row, row_length(scenario.inputs, row));
        if (made.next) made.draw = draw(*made.next, made.number);
        return made;
    });
}

Value<LensTable> shown_lens(Derived& derived, const std::shared_ptr<const Run>& run, Index row, Index length) {
    return derived.later<LensTable>({run}, std::tie(row, length), [&] { return read_lens(run, row, length); });
}

namespace {

Resumable<ShownBeams> searched(Scenario scenario, Index row, BeamSearch search) {
    ShownBeams shown;
    try {
        shown.tree = co_await beam_tree(std::move(scenario), row, search);
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

Resumable<ShownDraft> drafted(Scenario scenario, Index row, DraftQuestion question) {
    ShownDraft shown;
    try {
        Scenario draft = with_first_blocks(scenario, question.blocks);
        shown.speculated = co_await speculated(std::move(scenario), std::move(draft), row, question.speculation);
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

}  // namespace

Value<ShownDraft> shown_draft(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                              Index row, const DraftQuestion& question) {
    const Speculation& asked = question.speculation;
    const auto key = std::make_tuple(row, question.blocks, asked.drafted, asked.length, asked.sampling);
    return derived.later<ShownDraft>({run}, key, [&] { return drafted(scenario, row, question); });
}

std::vector<Sentence> sentences_of_draft(const Speculated& found) {
    const Arguments counts = {{"tokens", found.tokens.size()},
                              {"accepted", found.accepted},
                              {"drafted", found.drafted},
                              {"draft_passes", found.draft_passes}};
    return {
        message_n("{tokens} tokens in {count} pass of the model; one at a time would take {tokens}. "
                  "{accepted} of {drafted} drafted tokens were accepted, in {draft_passes} passes of the draft.",
                  "{tokens} tokens in {count} passes of the model; one at a time would take {tokens}. "
                  "{accepted} of {drafted} drafted tokens were accepted, in {draft_passes} passes of the draft.",
                  found.rounds.size(), counts),
        message("A drafted token is accepted with probability min(1, p / q). In place of one that is not, another is "
                "drawn from what the model has above the draft, so that what is written has the model's own "
                "distribution.")};
}

Value<ShownBeams> shown_beams(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                              Index row, const BeamSearch& search) {
    return derived.later<ShownBeams>({run}, std::tie(row, search.beams, search.length, search.length_penalty),
                                     [&] { return searched(scenario, row, search); });
}

std::string text_of(const Scenario& scenario, const BeamTree& tree, std::size_t node) {
    const char* between = scenario.tokenizer().can_encode() ? "" : " ";
    std::string text;
    for (const Index token : tree.tokens(node))
        text += (text.empty() ? "" : between) + token_text(scenario.tokenizer(), token);
    return text;
}

Exhibit beams_exhibit(const Scenario& scenario, const BeamTree& tree) {
    Chart chart{.name = "beams",
                .title = tr("Beam search"),
                .caption = tr("sum of log-probabilities"),
                .may_be_logarithmic = false,
                .curves = {},
                .across = tr("token")};
    for (std::size_t i = 0; i < tree.finished.size(); ++i) {
        DepthCurve curve{.name = text_of(scenario, tree, tree.finished[i])};
        for (std::optional<std::size_t> at = tree.finished[i]; at; at = tree.nodes[*at].parent) {
            const BeamNode& node = tree.nodes[*at];
            chart.blocks = std::max(chart.blocks, node.depth);
            curve.points.push_back(
                {static_cast<double>(node.depth), node.sum, token_text(scenario.tokenizer(), node.token)});
        }
        curve.points.push_back({0.0, 0.0, {}});
        std::ranges::reverse(curve.points);
        chart.curves.push_back({curve.name, curve, curve_color(i)});
    }
    Exhibit exhibit;
    exhibit.caption = caption_of(scenario, tr("beams"), std::to_string(tree.search.beams));
    exhibit.charts.push_back(std::move(chart));
    return exhibit;
}

std::vector<Sentence> next_token_sentences(const ShownNextToken& shown, const PieceOf& piece) {
    if (!shown.next || shown.next->candidates.empty()) return {};
    std::vector<Sentence> sentences = {likeliest(*shown.next, piece)};
    if (shown.next->candidates.size() > 1) sentences.push_back(lead(*shown.next, piece));
    if (shown.sampling.temperature == 0.0) {
        sentences.emplace_back(message("At temperature 0 the likeliest token is always taken."));
        return sentences;
    }
    sentences.push_back(cuts(shown));
    sentences.push_back(drawn(shown, piece));
    return sentences;
}

std::vector<Sentence> lens_sentences(const LensTable& table, Index position, const PieceOf& piece) {
    const auto at = static_cast<std::size_t>(position);
    std::vector<Sentence> sentences;
    for (const LensTable::Row& row : table.rows) {
        if (at >= row.cells.size()) continue;
        const LensCell& cell = row.cells[at];
        if (cell.top.empty())
            sentences.push_back(message("After {place} the probabilities are NaN.", {{"place", place_of(row)}}));
        else
            sentences.push_back(message("After {place} it would predict “{token}”, with probability {probability}.",
                                        {{"place", place_of(row)},
                                         {"token", piece(cell.top.front().first)},
                                         {"probability", probability(static_cast<double>(cell.top.front().second))}}));
    }
    if (at < table.settled.size() && table.settled[at] < table.rows.size())
        sentences.push_back(message("From {place} on the final prediction stays first.",
                                    {{"place", place_of(table.rows[table.settled[at]])}}));
    return sentences;
}

std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling) {
    const std::optional<NextToken> next = next_token(shown.scenario, *shown.run, row, sampling);
    if (!next) return std::nullopt;
    Heatmap heatmap{.title = tr("next token"), .subtitle = "batch " + std::to_string(row)};
    heatmap.row_axis = "token";
    heatmap.column_axis = "probability";
    heatmap.column_labels = {tr("model"), tr("drawn with")};
    heatmap.columns = 2;
    heatmap.scale = Scale::sequential;
    heatmap.range = {0.0F, 1.0F};
    for (const Candidate& candidate : next->candidates) {
        if (heatmap.row_labels.size() == most_candidates) break;
        heatmap.row_labels.push_back(piece_of(shown.scenario, candidate.token));
        heatmap.values.push_back(static_cast<float>(candidate.before));
        heatmap.values.push_back(static_cast<float>(candidate.after));
    }
    heatmap.rows = static_cast<Index>(heatmap.row_labels.size());
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, tr("next token"), heatmap.subtitle) + " · " +
                      tr("temperature {temperature}", {{"temperature", short_number_text(sampling.temperature, 3)}});
    if (sampling.top_k > 0) exhibit.caption += ", top-k " + std::to_string(sampling.top_k);
    if (sampling.top_p < 1.0) exhibit.caption += ", top-p " + short_number_text(sampling.top_p, 3);
    exhibit.caption += ", " + tr("the {shown} most probable of {all} tokens",
                                 {{"shown", heatmap.rows}, {"all", next->candidates.size()}});
    exhibit.panels = {panel_of("next_token", std::move(heatmap))};
    return exhibit;
}

std::string cached_attention(const Plan& plan, Index layer) {
    const std::vector<std::string> blocks = plan.blocks(StackKind::decoder);
    return layer < static_cast<Index>(blocks.size()) ? plan.attention_in(blocks[static_cast<std::size_t>(layer)])
                                                     : std::string();
}

Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place) {
    const std::string attention = cached_attention(shown.run->plan(), layer);
    Exhibit exhibit{.title = tr("{attention}: KV cache", {{"attention", attention}})};
    for (const AttentionStep which : {AttentionStep::key, AttentionStep::value}) {
        const Ref step = shown.run->plan().step_of(attention, which);
        if (step == nullptr || shown.run->value(step->id).empty()) continue;
        Heatmap heatmap = heatmap_of(shown.scenario, *shown.run, *step, place);
        exhibit.subtitle = heatmap.subtitle;
        exhibit.panels.push_back(panel_of(step->name, std::move(heatmap)));
    }
    exhibit.caption =
        caption_of(shown.scenario, tr("{attention}: k and v as cached", {{"attention", attention}}), exhibit.subtitle);
    return exhibit;
}

Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row) {
    const Index length = row_length(shown.scenario.inputs, row);
    LensReading reading(lens, row, length);
    reading.advance(std::numeric_limits<Index>::max());
    Heatmap heatmap{.title = tr("logit lens"), .subtitle = "batch " + std::to_string(row)};
    heatmap.row_axis = "after";
    heatmap.column_axis = "pos";
    heatmap.column_labels = row_labels_of(shown.scenario, row, length);
    heatmap.columns = length;
    heatmap.scale = Scale::sequential;
    heatmap.range = {0.0F, 1.0F};
    for (const LensTable::Row& at : reading.table().rows) {
        heatmap.row_labels.push_back(at.fitted ? at.at + " " + tr("fitted") : at.at);
        for (const LensCell& cell : at.cells) {
            const bool known = !cell.top.empty();
            heatmap.values.push_back(known ? cell.top.front().second : std::numeric_limits<float>::quiet_NaN());
            heatmap.texts.push_back(known ? piece_of(shown.scenario, cell.top.front().first) : "NaN");
        }
    }
    heatmap.rows = static_cast<Index>(heatmap.row_labels.size());
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, tr("logit lens"), heatmap.subtitle) + " · " +
                      tr("each cell has the token that the layer would predict next, coloured by its probability");
    exhibit.panels = {panel_of("logit_lens", std::move(heatmap))};
    return exhibit;
}

}  // namespace decoderscope::core::generate
