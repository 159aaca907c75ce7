// A parallel block (GPT-J, GPT-NeoX) has two branches into one sum. Code that draws, measures and checks blocks follows
// what each step reads, and so needs no special case.
#include "app/core/checks/invariants.h"
#include "app/core/checks/leak.h"
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/report/report.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/base/error.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"

#include <cmath>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::norms;
using namespace decoderscope::core::report;
using namespace decoderscope::core::step;

namespace {

const std::vector<std::string> kBoth = {"parallel-one-norm", "parallel-two-norms"};

OutlineBlock block_of(const Scenario& scenario, const std::string& name) {
    const auto plan = plan_of(scenario);
    for (OutlineBlock& block : outline_of(*plan))
        if (block.name == name) return block;
    return {};
}

std::vector<Part> parts_of(const OutlineBlock& block) {
    std::vector<Part> parts;
    for (const OutlinePart& part : block.parts) parts.push_back(part.part);
    return parts;
}

std::vector<std::vector<std::size_t>> reads_of(const OutlineBlock& block) {
    std::vector<std::vector<std::size_t>> reads;
    for (const OutlinePart& part : block.parts) reads.push_back(part.reads);
    return reads;
}

// The mean length of the rows of a tensor [batch, pos, d_model] where the second batch row ends after three positions.
double mean_length(const Tensor& x) {
    double sum = 0.0;
    for (Index b = 0; b < 2; ++b) {
        for (Index p = 0; p < (b == 0 ? 5 : 3); ++p) {
            double squares = 0.0;
            for (Index d = 0; d < x.dim(2); ++d) squares += std::pow(static_cast<double>(x.at(Cell{b, p, d})), 2);
            sum += std::sqrt(squares);
        }
    }
    return sum / 8.0;
}

}  // namespace

TEST_CASE("under one norm attention and MLP read it both, and one sum reads them") {
    const OutlineBlock block = block_of(fixture_scenario("parallel-one-norm"), "blocks.1");
    CHECK(parts_of(block) ==
          std::vector{Part::residual_stream, Part::norm, Part::self_attention, Part::mlp, Part::add});
    CHECK(reads_of(block) == std::vector<std::vector<std::size_t>>{{}, {0}, {1}, {1}, {0, 2, 3}});
    for (const std::size_t branch : {1U, 2U, 3U}) CHECK_FALSE(block.parts[branch].on_stream);
    for (const std::size_t on_stream : {0U, 4U}) CHECK(block.parts[on_stream].on_stream);
}

TEST_CASE("under two norms each sublayer reads its own, and both norms the stream") {
    const OutlineBlock block = block_of(fixture_scenario("parallel-two-norms"), "blocks.0");
    CHECK(parts_of(block) ==
          std::vector{Part::residual_stream, Part::norm, Part::self_attention, Part::norm, Part::mlp, Part::add});
    CHECK(reads_of(block) == std::vector<std::vector<std::size_t>>{{}, {0}, {1}, {0}, {3}, {0, 2, 4}});
}

TEST_CASE("a block with a sum for each sublayer is a chain, as it was") {
    Scenario scenario = fixture_scenario("parallel-two-norms");
    const auto serial = block_of(with_override(scenario, "parallel_residual", "none"), "blocks.0");
    CHECK(reads_of(serial) == std::vector<std::vector<std::size_t>>{{}, {0}, {1}, {0, 2}, {3}, {4}, {3, 5}});
}

TEST_CASE("the curves by depth have every update of the one sum, and no norm outside its block") {
    for (const std::string& name : kBoth) {
        INFO(name);
        const auto run = execute(plan_of(fixture_scenario(name)));
        const DepthCurves curves = depth_curves(*run, StackKind::decoder);
        REQUIRE(curves.updates.size() == 2);
        CHECK(curves.updates[0].name == "attn_out");
        CHECK(curves.updates[1].name == "mlp_out");
        for (const DepthCurve& curve : curves.updates) {
            REQUIRE(curve.points.size() == 2);
            for (std::size_t block = 0; block < 2; ++block) {
                CHECK(curve.points[block].depth == static_cast<double>(block) + 0.5);
                CHECK(curve.points[block].value == Approx(mean_length(run->value(curve.points[block].step))));
            }
        }
        CHECK(curves.stream.points.size() == 4);  // the input of each block, and its sum
        CHECK(curves.scales.size() == (name == "parallel-two-norms" ? 2 : 1));
        for (const DepthCurve& curve : curves.scales)
            for (std::size_t block = 0; block < curve.points.size(); ++block) {
                CHECK(curve.points[block].depth > static_cast<double>(block));
                CHECK(curve.points[block].depth < static_cast<double>(block + 1));
            }
        CHECK(norms_of_block(run->plan(), "blocks.1", StackKind::decoder).size() == curves.scales.size() + 1);
    }
}

TEST_CASE("every law holds of a parallel model, and nothing leaks") {
    for (const std::string& name : kBoth) {
        const Scenario scenario = fixture_scenario(name);
        const auto run = execute(plan_of(scenario));
        const auto found = measure_invariants(*run, scenario.config());
        REQUIRE(found);
        for (const Invariant& one : found->all) {
            INFO(name << ", " << title_of(one) << ": " << finding_text(one));
            CHECK(one.verdict == Verdict::kept);
        }
        Scenario changed = scenario;
        for (const Edit& edit : leak_variation(scenario, *run, 0, 3).more_edits) changed.edits.push_back(edit);
        const Leak leak = finished(leak_between(run, execute(plan_of(changed)), 0, 3));
        CHECK(leak.earlier_moved == 0);
        CHECK_FALSE(leak.moved[3].first_in.empty());
    }
}

TEST_CASE("where Post-Norm cannot be, the report says so by the key's name, and has all the rest") {
    const Scenario scenario = fixture_scenario("parallel-one-norm");
    std::ostringstream out;
    write_report(out, {{scenario, execute(plan_of(scenario))}, "blocks.0.attn.pattern", {0, 0}, ""});
    const std::string page = out.str();
    CHECK(page.find("norm placement can't be changed here: parallel_residual: ") != std::string::npos);
    CHECK(page.find("blocks.1.attn") != std::string::npos);
}
