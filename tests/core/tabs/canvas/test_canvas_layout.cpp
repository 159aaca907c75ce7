// The canvas: every step of a pass has its place, and no other's.
#include "app/core/tabs/canvas/canvas_layout.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::canvas;

namespace {

constexpr double kNear = 1e-9;

bool overlap(const Box& a, const Box& b) {
    return a.x + kNear < b.right() && b.x + kNear < a.right() && a.y + kNear < b.bottom() && b.y + kNear < a.bottom();
}

bool inside(const Box& inner, const Box& outer) {
    return inner.x + kNear >= outer.x && inner.y + kNear >= outer.y && inner.right() <= outer.right() + kNear &&
           inner.bottom() <= outer.bottom() + kNear;
}

std::vector<std::string> models() {
    return {"verses", "reverse", "experts", "post-ln-encdec", "causal-lm-as-meant", "simple-decoder"};
}

struct Case {
    std::shared_ptr<const Plan> plan;
    std::vector<step::OutlineBlock> outline;
    Layout layout;
};

Case laid_out(const std::string& model, bool weights, double aspect) {
    Case made{.plan = plan_of(scenario_of(load::load_model(model))), .outline = {}, .layout = {}};
    made.outline = step::outline_of(*made.plan);
    made.layout = lay_out(*made.plan, made.outline, weights, aspect);
    return made;
}

std::string both_names(const Case& c, const Placed& a, const Placed& b) {
    return (*c.plan)[a.step].name + " and " + (*c.plan)[b.step].name;
}

}  // namespace

TEST_CASE("every computed step is on the canvas exactly once, and each weight that a step reads, if they are shown") {
    for (const std::string& model : models())
        for (const bool weights : {false, true}) {
            INFO(model << ", weights: " << weights);
            const Case c = laid_out(model, weights, 1.6);
            std::map<StepId, int> count;
            for (const Placed& placed : c.layout.pictures) ++count[placed.step];
            std::map<StepId, int> expected;
            for (const Step& step : c.plan->steps()) {
                if (step.is_source()) continue;
                expected[step.id] = 1;
                for (const StepId operand : step.operands)
                    if (weights && (*c.plan)[operand].role == Role::parameter) expected[operand] = 1;
            }
            CHECK(count == expected);
        }
}

TEST_CASE("a picture has the strip's word, unless its part has it as its title") {
    const Case c = laid_out("words", false, 1.6);
    const auto word = [&](const char* name) {
        return std::string(c.layout.find(c.plan->find(name)->id)->caption.english());
    };
    CHECK(word("blocks.0.ln1.normalized") == "norm");
    CHECK(word("blocks.0.attn.q") == "q");
    CHECK(word("blocks.1.attn.pattern") == "softmax");
    CHECK(word("blocks.1.attn_out") == "out");
    CHECK(word("blocks.0.ln1.scale").empty());  // the strip shows the other one
    CHECK(word("blocks.0.mlp_out").empty());    // in a part that is called MLP
}

TEST_CASE("pictures, parts and blocks overlap no other, and lie in what they belong to") {
    for (const std::string& model : models())
        for (const double aspect : {0.7, 1.25, 2.5}) {
            const Case c = laid_out(model, aspect > 1.0, aspect);
            const Layout& l = c.layout;
            INFO(model << " at " << aspect);
            for (auto a = l.pictures.begin(); a != l.pictures.end(); ++a) {
                CHECK(inside(a->at, {0, 0, l.width, l.height}));
                CHECK(a->at.width > 0.0);
                for (auto b = a + 1; b != l.pictures.end(); ++b) {
                    INFO(both_names(c, *a, *b));
                    CHECK_FALSE(overlap(a->at, b->at));
                }
            }
            for (auto a = l.parts.begin(); a != l.parts.end(); ++a) {
                const auto block = std::ranges::find(l.blocks, a->block, &PlacedBlock::block);
                REQUIRE(block != l.blocks.end());
                CHECK(inside(a->at, block->at));
                for (auto b = a + 1; b != l.parts.end(); ++b) CHECK_FALSE(overlap(a->at, b->at));
                for (const StepId step : c.outline[a->block].parts[a->part].steps)
                    CHECK(inside(l.find(step)->at, a->at));
            }
            for (auto a = l.blocks.begin(); a != l.blocks.end(); ++a)
                for (auto b = a + 1; b != l.blocks.end(); ++b) CHECK_FALSE(overlap(a->at, b->at));
        }
}

TEST_CASE("the next step is to the right of the one before, below it, or in a later column") {
    for (const std::string& model : models()) {
        const Case c = laid_out(model, false, 1.6);
        const auto column = [&](StepId step) {
            for (const PlacedPart& part : c.layout.parts) {
                const auto& steps = c.outline[part.block].parts[part.part].steps;
                if (std::ranges::find(steps, step) != steps.end())
                    return std::ranges::find(c.layout.blocks, part.block, &PlacedBlock::block)->at.x;
            }
            return -1.0;
        };
        for (std::size_t i = 1; i < c.layout.pictures.size(); ++i) {
            const Placed &before = c.layout.pictures[i - 1], &now = c.layout.pictures[i];
            INFO(model << ": " << both_names(c, before, now));
            CHECK(before.step < now.step);
            const bool right = now.at.x + kNear >= before.at.right() && now.at.y + kNear >= before.at.y;
            const bool below = now.at.y + kNear >= before.at.bottom();
            const double was = column(before.step), is = column(now.step);
            CHECK(is >= was);
            CHECK((is > was || right || below));
        }
    }
}

TEST_CASE("the encoder is left of the decoder, and a line leads from its end to each cross-attention") {
    const Case c = laid_out("reverse", false, 1.6);
    double encoder = 0.0, decoder = 1e9;
    for (const Placed& placed : c.layout.pictures) {
        if ((*c.plan)[placed.step].in_encoder())
            encoder = std::max(encoder, placed.at.right());
        else
            decoder = std::min(decoder, placed.at.x);
    }
    CHECK(encoder < decoder);
    std::size_t crossing = 0, memory = 0;
    for (const step::OutlineBlock& block : c.outline)
        for (const step::OutlinePart& part : block.parts) crossing += part.part == Part::cross_attention ? 1 : 0;
    Ref end = nullptr;
    for (const Step& step : c.plan->steps())
        if (step.in_encoder() && !step.is_source()) end = &step;
    REQUIRE(end != nullptr);
    for (const Wire& wire : c.layout.wires) {
        if (wire.is_stream) continue;
        ++memory;
        CHECK(wire.points.front().x == c.layout.find(end->id)->at.right());
        const auto ends_at = std::ranges::find_if(c.layout.parts, [&](const PlacedPart& part) {
            return c.outline[part.block].parts[part.part].part == Part::cross_attention &&
                   part.at.x == wire.points.back().x && wire.points.back().y > part.at.y &&
                   wire.points.back().y < part.at.bottom();
        });
        CHECK(ends_at != c.layout.parts.end());
    }
    CHECK(memory == crossing);
    CHECK(memory > 0);
}

TEST_CASE("the layout follows the window's form: of a wide window it fills more if it is laid out for it") {
    const auto scale = [](const Layout& l, double aspect) { return std::min(aspect / l.width, 1.0 / l.height); };
    for (const std::string& model : models()) {
        INFO(model);
        const Layout narrow = laid_out(model, false, 0.7).layout, wide = laid_out(model, false, 2.5).layout;
        CHECK(scale(wide, 2.5) >= scale(narrow, 2.5));
        CHECK(scale(narrow, 0.7) >= scale(wide, 0.7));
    }
}

TEST_CASE("heads are in a grid that their picture fills") {
    const Case c = laid_out("verses", false, 1.6);
    const Placed& pattern = *c.layout.find(c.plan->find("blocks.0.attn.pattern")->id);
    CHECK(pattern.heads == 4);
    Box all = pattern.picture(0);
    for (Index head = 0; head < pattern.heads; ++head) {
        const Box at = pattern.picture(head);
        CHECK(inside(at, pattern.at));
        CHECK(std::abs(at.width - at.height) < kNear);  // as many keys as queries
        for (Index other = 0; other < head; ++other) CHECK_FALSE(overlap(at, pattern.picture(other)));
        all.width = std::max(all.width, at.right() - all.x);
        all.height = std::max(all.height, at.bottom() - all.y);
    }
    CHECK(std::abs(all.width - pattern.at.width) < kNear);
    CHECK(std::abs(all.height - pattern.at.height) < kNear);
    CHECK(c.layout.find(c.plan->find("blocks.0.attn.q")->id)->heads == 1);
}

TEST_CASE("what is downstream of a step is what reads it, and what reads that") {
    const auto plan = plan_of(scenario_of(load::load_model("verses")));
    const std::vector<bool> reached = downstream_of(*plan, plan->find("blocks.2.attn.k")->id);
    CHECK(reached[plan->find("blocks.2.attn.k")->id]);
    CHECK(reached[plan->find("blocks.2.attn.pattern")->id]);
    CHECK(reached[plan->find("logits")->id]);
    CHECK_FALSE(reached[plan->find("blocks.2.attn.q")->id]);
    CHECK_FALSE(reached[plan->find("blocks.2.resid_pre")->id]);
}
