// What a row of numbers is as a vector, and what it adds to the logits directly.
#include "app/core/tabs/step/vector_reading.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/tabs/step/shown_run.h"

#include <cmath>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

// A row of [batch, pos, d_model] or [pos, d_model].
std::vector<double> row_of(const Tensor& tensor, Index pos) {
    const auto width = static_cast<std::size_t>(tensor.axes().back().size);
    const Cell first = tensor.rank() == 2 ? Cell{pos, 0} : Cell{0, pos, 0};
    const auto values = tensor.values().subspan(static_cast<std::size_t>(tensor.offset(first)), width);
    return {values.begin(), values.end()};
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return ab / std::sqrt(aa) / std::sqrt(bb);
}

VectorTable table_of(const ShownRun& run, const std::string& step, Place place, Index chosen = 0) {
    return finished(read_vectors(run.run, run.run->plan().find(step)->id, place, run.scenario.config().nhead, chosen));
}

Index most_probable(const ShownRun& run, Index pos) {
    const std::vector<double> logits = row_of(run.run->value("logits"), pos);
    return std::ranges::max_element(logits) - logits.begin();
}

}  // namespace

// Once the norms' scales are frozen everything on the stream is linear, so the parts add up to the whole.
TEST_CASE("what all parts of the stream add to a logit directly, the norms' shifts and the bias are the logit") {
    const auto check = [](const ShownRun& run) {
        const Run& r = *run.run;
        const DirectPaths paths = direct_paths(r);
        REQUIRE(paths.head != nullptr);
        REQUIRE(paths.added.size() >= 3);
        const Tensor& logits = r.value(paths.head->id);
        for (Index pos = 0; pos < logits.dim(1); ++pos) {
            for (const Index token : {Index{0}, logits.dim(2) / 2, most_probable(run, pos)}) {
                double sum = 0.0;
                for (const StepId id : paths.added)
                    sum += towards_token(r, *paths.head,
                                         along_path(r, paths.of.at(id), 0, pos, row_of(r.value(id), pos)), token);
                for (const auto& [norm, path] : paths.from) {
                    const std::vector<StepId>& operands = r.plan()[norm].operands;
                    if (operands.size() < 4) continue;
                    const auto shift = r.value(operands[3]).values();
                    const std::vector<double> row(shift.begin(), shift.end());
                    sum += towards_token(r, *paths.head, along_path(r, path, 0, pos, row), token);
                }
                if (paths.head->operands.size() > 2)
                    sum += static_cast<double>(r.value(paths.head->operands[2]).at(Cell{token}));
                INFO("position " << pos << ", token " << token);
                CHECK(sum == Approx(logits.at(Cell{0, pos, token})).margin(2e-4).epsilon(1e-4));
            }
        }
    };
    for (const char* model : {"reverse", "reverse-post-norm", "induction", "verses"}) {
        INFO(model);
        check(shown_run(model));
        check(shown_run(model, {}, {{"norm_first", "false"}}));
    }
}

TEST_CASE("lengths and cosines are those of the recorded rows") {
    const ShownRun run = shown_run("reverse");
    const Run& r = *run.run;
    const VectorTable table = table_of(run, "blocks.1.mlp_out", {});
    CHECK(table.stream == "blocks.1.resid_mid_cross");
    const Tensor& head = r.value("lm_head.weight");
    REQUIRE(table.rows.size() == static_cast<std::size_t>(r.value("blocks.1.mlp_out").dim(1)));
    for (const VectorReading& reading : table.rows) {
        const std::vector<double> row = row_of(r.value("blocks.1.mlp_out"), reading.row);
        double squares = 0.0, largest = 0.0;
        for (const double value : row) {
            squares += value * value;
            largest = std::max(largest, std::abs(value));
        }
        CHECK(reading.length == Approx(std::sqrt(squares)));
        CHECK(*reading.along_stream == Approx(cosine(row, row_of(r.value(table.stream), reading.row))));
        CHECK(*reading.predicted == most_probable(run, reading.row));
        const auto toward = head.values().subspan(static_cast<std::size_t>(*reading.predicted * head.dim(1)),
                                                  static_cast<std::size_t>(head.dim(1)));
        CHECK(*reading.along_logit == Approx(cosine(row, {toward.begin(), toward.end()})));
        CHECK(std::abs(reading.largest.front().second) == largest);
        CHECK(row[static_cast<std::size_t>(reading.largest.front().first)] == reading.largest.front().second);
    }
}

TEST_CASE("each part is added to the stream before its sum") {
    const ShownRun run = shown_run("reverse", {"*"});
    const Plan& plan = run.run->plan();
    const auto stream = [&](const std::string& step) {
        const Step* found = stream_of(plan, *plan.find(step));
        return found == nullptr ? std::string() : found->name;
    };
    CHECK(stream("pos_embed") == "embed");
    CHECK(stream("blocks.0.attn_out") == "blocks.0.resid_pre");
    CHECK(stream("blocks.0.attn.result") == "blocks.0.resid_pre");
    CHECK(stream("blocks.1.cross_attn.result") == "blocks.1.resid_mid");
    CHECK(stream("encoder.blocks.0.mlp_out") == "encoder.blocks.0.resid_mid");
    CHECK(stream("blocks.0.ln1.normalized").empty());
    CHECK(stream("blocks.0.attn.q").empty());
}

TEST_CASE("the heads' parts of a logit are their attention's, without its bias") {
    const ShownRun run = shown_run("reverse", {"*"});
    const Run& r = *run.run;
    const VectorTable whole = table_of(run, "blocks.1.cross_attn_out", {});
    const DirectPaths paths = direct_paths(r);
    const auto bias_values = r.value("layers.1.cross_attn.o_proj.bias").values();
    const std::vector<double> bias(bias_values.begin(), bias_values.end());
    std::vector<VectorTable> heads;
    for (Index head = 0; head < 4; ++head) heads.push_back(table_of(run, "blocks.1.cross_attn.result", {0, head}));
    for (const VectorReading& reading : whole.rows) {
        const DirectPath& path = paths.of.at(r.plan().find("blocks.1.cross_attn_out")->id);
        double sum = towards_token(r, *paths.head, along_path(r, path, 0, reading.row, bias), *reading.predicted);
        for (const VectorTable& head : heads) sum += *head.rows[static_cast<std::size_t>(reading.row)].to_predicted;
        CHECK(sum == Approx(*reading.to_predicted).margin(1e-4));
    }
}

TEST_CASE("the tokens moved up and down are those whose logits change most without the row") {
    const ShownRun run = shown_run("reverse");
    const Run& r = *run.run;
    const Index pos = 2;
    const VectorReading reading = table_of(run, "blocks.1.mlp_out", {}, pos).rows[static_cast<std::size_t>(pos)];
    // The last block's MLP reaches the final norm at once: by hand, with the scale that was recorded.
    const std::vector<double> row = row_of(r.value("blocks.1.mlp_out"), pos);
    double mean = 0.0;
    for (const double value : row) mean += value / static_cast<double>(row.size());
    const auto scale = static_cast<double>(r.value("ln_final.scale").at(Cell{0, pos, 0}));
    const Tensor &gain = r.value("norm.weight"), &head = r.value("lm_head.weight");
    std::vector<std::pair<double, Index>> moves;
    for (Index token = 0; token < head.dim(0); ++token) {
        double move = 0.0;
        for (Index d = 0; d < head.dim(1); ++d)
            move += (row[static_cast<std::size_t>(d)] - mean) / scale * static_cast<double>(gain.at(Cell{d})) *
                    static_cast<double>(head.at(Cell{token, d}));
        moves.emplace_back(move, token);
    }
    std::ranges::sort(moves);
    REQUIRE(reading.up.size() == 3);
    REQUIRE(reading.down.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(reading.up[i].token == moves[moves.size() - 1 - i].second);
        CHECK(reading.up[i].logit == Approx(moves[moves.size() - 1 - i].first));
        CHECK(reading.down[i].token == moves[i].second);
        CHECK(reading.down[i].logit == Approx(moves[i].first));
    }
}

TEST_CASE("q, k and v stand together where they run over the same tokens") {
    const ShownRun run = shown_run("reverse");
    const Plan& plan = run.run->plan();
    const auto beside = [&](const std::string& step) {
        std::vector<std::string> names;
        for (const Ref one : vectors_beside(plan, *plan.find(step))) names.push_back(one->name);
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(beside("blocks.0.attn.k") == Names{"blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v"});
    CHECK(beside("blocks.0.cross_attn.v") == Names{"blocks.0.cross_attn.k", "blocks.0.cross_attn.v"});
    CHECK(beside("blocks.0.attn.z").empty());
    CHECK(beside("blocks.0.attn_out").empty());
}
