// What would the model have said after a block? How probable is the next token, before and after temperature and top-p?
// What is kept in the KV cache?
#include "app/core/text/numbers.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

// A row [d_model] of a tensor [batch, pos, d_model].
std::vector<double> row_of(const Tensor& tensor, Index batch, Index pos) {
    std::vector<double> row;
    for (Index i = 0; i < tensor.dim(2); ++i) row.push_back(static_cast<double>(tensor.at(Cell{batch, pos, i})));
    return row;
}

// The token that final norm and head make most probable from a row of the stream, by the formulas.
Index said_from(const Run& run, const std::vector<double>& row) {
    const auto n = static_cast<double>(row.size());
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
    double variance = 0.0;
    for (const double x : row) variance += (x - mean) * (x - mean) / n;
    const Tensor& gain = run.value("norm.weight");
    const Tensor& shift = run.value("norm.bias");
    const Tensor& head = run.value("lm_head.weight");  // [vocab, d_model]
    const Ref bias = run.plan().find("lm_head.bias");
    Index best = 0;
    double most = -1e300;
    for (Index token = 0; token < head.dim(0); ++token) {
        double logit = bias == nullptr ? 0.0 : static_cast<double>(run.value(bias->id).at(Cell{token}));
        for (Index i = 0; i < head.dim(1); ++i) {
            const double unit = (row[static_cast<std::size_t>(i)] - mean) / std::sqrt(variance + 1e-5);
            const double normed = unit * static_cast<double>(gain.at(Cell{i})) + static_cast<double>(shift.at(Cell{i}));
            logit += normed * static_cast<double>(head.at(Cell{token, i}));
        }
        if (logit > most) {
            most = logit;
            best = token;
        }
    }
    return best;
}

std::string percent(double part) { return fixed_text(part * 100.0, 1) + "%"; }

}  // namespace

TEST_CASE("question 19: two gestures show what the model would have said after each block") {
    Driver d("reverse");
    d.press(Key::g);
    REQUIRE(d.click_text("Logitlens"));
    const Run& run = *d.session.shown().run;
    const Tensor& stream = run.value("blocks.0.resid_post");
    const Index batch = d.session.cursor().place.batch;
    const auto label = d.find_on_stage("block0");
    REQUIRE(label);
    // The answers of that row, from left to right, are its cells' first lines.
    std::vector<DrawnText> cells;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece) && piece.low.x > label->high.x && std::abs(piece.middle().y - label->middle().y) < 24.0F)
            cells.push_back(piece);
    const Tokenizer& tokenizer = d.session.scenario().tokenizer();
    for (const Index pos : {Index{0}, Index{3}}) {
        const std::string said = tokenizer.piece(said_from(run, row_of(stream, batch, pos)));
        INFO("position " << pos << " says " << said);
        CHECK(std::any_of(cells.begin(), cells.end(), [&](const DrawnText& cell) { return cell.text == said; }));
    }
}

TEST_CASE("question 20: three gestures show the next token's probability, and after temperature and top-p") {
    Driver d("reverse");
    d.press(Key::g);
    const auto slider = [&](std::string_view text, float part) {
        const auto found = d.find_on_stage(text);
        REQUIRE(found);
        // Wherever on the slider: what it then says is read.
        d.click({found->middle().x + part, found->middle().y});
    };
    slider("temperature", 30);
    slider("top-p", -25);
    const Sampling sampling = d.session.sampling();
    CHECK(sampling.temperature > 1.0);
    CHECK(sampling.top_p < 1.0);
    // The formulas, on the last position's logits.
    const Tensor& logits = d.session.shown().run->value("logits");
    const Index batch = d.session.cursor().place.batch, last = logits.dim(1) - 1;
    const auto softmax = [&](double temperature) {
        std::vector<double> p;
        for (Index token = 0; token < logits.dim(2); ++token)
            p.push_back(std::exp(static_cast<double>(logits.at(Cell{batch, last, token})) / temperature));
        const double sum = std::accumulate(p.begin(), p.end(), 0.0);
        for (double& x : p) x /= sum;
        return p;
    };
    std::vector<double> before = softmax(1.0), after = softmax(sampling.temperature);
    std::ranges::sort(before, std::greater<>());
    std::ranges::sort(after, std::greater<>());
    double kept = 0.0;
    for (const double p : after) {
        kept += p;
        if (kept >= sampling.top_p) break;
    }
    CHECK(d.sees(percent(before.front())));
    CHECK(d.sees(percent(after.front() / kept)));
}

TEST_CASE("question 21: three gestures say what the KV cache keeps, and how many numbers that is") {
    Driver d("reverse");
    d.press(Key::g);
    REQUIRE(d.click_text("KVcache"));
    d.press(Key::comma);  // a token back, so that there is room for one
    d.press(Key::period);
    const Config& config = d.session.scenario().config();
    // All of the text but the token that the last pass was for.
    const Tensor& mask = d.session.scenario().inputs.attention_mask;  // [batch, pos]
    Index rows = -1;
    for (Index pos = 0; pos < mask.dim(1); ++pos)
        if (mask.at(Cell{d.session.cursor().place.batch, pos}) != 0.0F) ++rows;
    const Index numbers = rows * 2 * config.nhead * (config.d_model / config.nhead) * config.num_layers;
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece)) all += piece.text;
    CHECK(all.find("Kept" + std::to_string(rows) + "row") != std::string::npos);
    CHECK(all.find(grouped(numbers) + "numbers") != std::string::npos);
}
