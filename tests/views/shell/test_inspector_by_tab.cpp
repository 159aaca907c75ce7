// The inspector explains what the open tab shows, not a tensor that isn't there.
#include "app/core/text/numbers.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/tabs/generate/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/strip_check.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::views::compare;
using namespace decoderscope::views::generate;
using namespace decoderscope::views::compare;

namespace {

Area inspector(const Driver& d) {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    return {{size.x - d.state.settings.inspector_width * d.fonts().scale, 0.0F}, size};
}

// Whether the inspector has this text.
bool inspects(const Driver& d, std::string_view part) {
    return std::ranges::any_of(d.seen(), [&](const DrawnText& piece) {
        return piece.low.x >= inspector(d).low.x && piece.text.find(part) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("beside Generate the inspector says why this token comes next, with the run's numbers") {
    Driver d("verses");
    d.state.tab = "generate";
    d.settle();
    CHECK_FALSE(inspects(d, "attn.pattern"));
    const Tensor& logits = d.session.shown().run->value("logits");
    const Tensor& probs = d.session.shown().run->value("probs");
    const Index last = d.session.scenario().inputs.pos() - 1;
    Index best = 0;
    for (Index token = 0; token < logits.dim(2); ++token)
        if (logits.at(Cell{0, last, token}) > logits.at(Cell{0, last, best})) best = token;
    CHECK(inspects(d, "Thelikeliestnext"));
    CHECK(inspects(d, short_number_text(static_cast<double>(logits.at(Cell{0, last, best})), 4)));
    CHECK(inspects(d, short_number_text(static_cast<double>(probs.at(Cell{0, last, best})), 3)));
    REQUIRE(d.click_text("Explainthelogit"));
    CHECK(d.state.tab == kStepTab);
    CHECK(d.session.cursor().step == "logits");
    CHECK(d.session.cursor().cell == Cell{0, last, best});
}

TEST_CASE("beside the logit lens it says what each block would answer") {
    Driver d("verses");
    d.state.tab = "generate";
    d.state.part<GenerateTabState>().page = GeneratePage::lens;
    d.settle();
    d.settle();
    CHECK(inspects(d, "Afterblock0"));
    CHECK(inspects(d, "Afterblock3"));
    CHECK(inspects(d, "onthefinal"));
}

TEST_CASE("beside a file, and beside a pinned run that there isn't, it says nothing of the runs compared before") {
    Driver d("words");
    d.state.tab = "norms";
    d.settle();
    d.settle();
    REQUIRE(inspects(d, "Theanswerchanges"));
    CompareTabState& tab = d.state.part<CompareTabState>();
    for (const View view : {View::step, View::depth}) {
        tab.view = view;
        for (const Against against : {Against::file, Against::pinned}) {
            tab.against = against;
            d.settle();
            CHECK_FALSE(inspects(d, "Theanswer"));
            tab.against = Against::norms;
            d.settle();
        }
    }
}

TEST_CASE("beside Norms it has the numbers of both runs") {
    Driver d("reverse");
    d.state.tab = "norms";
    d.settle();
    d.settle();
    CHECK_FALSE(inspects(d, "attn.pattern"));
    CHECK(inspects(d, "Theanswerchanges"));
    CHECK(inspects(d, "lengthofthestream"));
    d.state.part<CompareTabState>().norms.view = View::row;
    d.settle();
    CHECK(inspects(d, "variance"));
    CHECK(inspects(d, "dividedby"));
    const auto& runs = *d.state.part<CompareTabState>().runs;
    const float scale = runs.left.run->value("blocks.1.ln1.scale").at(Cell{0, 0, 0});
    CHECK(inspects(d, short_number_text(static_cast<double>(scale), 4)));
}

TEST_CASE("beside Diff it says how the step differs, and where most") {
    Driver d("reverse");
    d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 3, 0.0F});
    d.session.apply(command::GoTo{"probs"});
    d.state.tab = "diff";
    d.settle();
    d.settle();
    const auto& diff = d.state.part<CompareTabState>().shown;
    REQUIRE(diff);
    const auto& tensors = diff->comparison.tensors;
    const auto probs = std::ranges::find(tensors, "probs", &TensorDifference::name);
    REQUIRE(probs != tensors.end());
    CHECK(inspects(d, "probs"));
    CHECK(inspects(d, "A,thisrun"));
    CHECK(inspects(d, "largestdifference"));
    REQUIRE(d.click_text("ExplainA'snumber"));
    CHECK(d.session.cursor().step == "probs");
    CHECK(d.session.cursor().cell == probs->cell);
}

TEST_CASE("beside Heads and Masks it is about the head and the masks, and explains a cell once one is selected") {
    Driver d("reverse");
    d.state.tab = "heads";
    d.settle();
    d.settle();
    CHECK(inspects(d, "blocks.1.cross_attnhead3"));
    CHECK(inspects(d, "Entropy:"));
    CHECK(inspects(d, "caneachbeleftout"));
    CHECK_FALSE(inspects(d, "cross_attn.pattern"));
    d.state.tab = "masks";
    d.settle();
    const Tensor& mask = d.session.shown().run->value("blocks.1.cross_attn.mask");
    int hidden = 0;
    for (Index query = 0; query < mask.dim(2); ++query)
        for (Index key = 0; key < mask.dim(3); ++key) hidden += mask.at(Cell{0, 3, query, key}) == 0.0F ? 1 : 0;
    CHECK(inspects(
        d, "combined:hides" + std::to_string(hidden) + "of" + std::to_string(mask.dim(2) * mask.dim(3)) + "cells"));
    CHECK_FALSE(inspects(d, "cross_attn.pattern"));
    d.apply(command::SelectCell{{0, 3, 4, 3}});
    CHECK(inspects(d, "blocks.1.cross_attn.pattern[0,3,4,3]"));
}

TEST_CASE("what it says beside each tab stays in its panel at every size") {
    for (const auto& [scale, size] : kWindows) {
        for (const char* tab : {"generate", "norms", "diff", "heads", "masks"}) {
            Driver d("verses", scale, size);
            d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 3, 0.0F});
            d.state.tab = tab;
            d.settle();
            d.settle();
            INFO(tab << " at " << size.x << " x " << size.y << ", text " << scale);
            const Area panel = inspector(d);
            for (const DrawnText& piece : d.seen()) {
                if (piece.low.x < panel.low.x) continue;
                CHECK(piece.high.x <= size.x);
            }
        }
    }
}
