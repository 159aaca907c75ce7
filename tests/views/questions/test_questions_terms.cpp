// Questions 2, 14 and 15: what is this weight made of; how are heads joined; what does LayerNorm do to this row?
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "engine/graph/explanation.h"
#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"
#include "tests/views/questions/learner.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

TEST_CASE("question 2: why is this attention weight what it is?") {
    Learner learner;
    learner.click_cell("blocks.1.cross_attn.pattern", 1, 2);
    CHECK(learner.gestures <= 3);
    const std::string masked = "blocks.1.cross_attn.masked_scores";
    const Step& step = *learner.run().plan().find(masked);
    const auto keys = axis_labels(learner.d.session.shown().scenario, step, 3, 0);
    const auto score = [&](Index key) { return learner.value(masked, {0, 3, 1, key}); };
    Index top = 0;
    for (Index key = 1; key < step.axes[3].size; ++key)
        if (score(key) > score(top)) top = key;
    const auto name = [&](Index key) {
        return "key " + std::to_string(key) + " “" + keys[static_cast<std::size_t>(key)] + "”";
    };
    const auto less_top = [&](Index key) {
        return difference_text(static_cast<double>(score(key)), static_cast<double>(score(top)));
    };
    // Of which key the maximum is, the largest term with its score and key, and this cell's own.
    CHECK(learner.reads("max = " + short_number(static_cast<double>(score(top)))));
    CHECK(learner.reads(name(top) + " " + short_number(static_cast<double>(score(top)))));
    CHECK(learner.reads(name(top) + " exp" + less_top(top)));
    CHECK(learner.reads(name(2) + " exp" + less_top(2)));
}

TEST_CASE("question 14: how is hidden split into heads, and joined again?") {
    Learner learner;
    learner.click_on_strip("blocks.1.cross_attn_out");
    learner.click_cell("blocks.1.cross_attn_out", 2, 5);
    CHECK(learner.gestures <= 3);
    // Each head's part of the sum by name; the same number as the head's own result.
    const Run& run = learner.run();
    const Tensor &z = run.value("blocks.1.cross_attn.z"), &weight = run.value("layers.1.cross_attn.o_proj.weight");
    for (Index head = 0; head < 4; ++head) {
        double sum = 0.0;
        for (Index d = 0; d < 16; ++d)
            sum +=
                static_cast<double>(z.at(Cell{0, head, 2, d})) * static_cast<double>(weight.at(Cell{5, head * 16 + d}));
        CHECK(learner.beside("head " + std::to_string(head) + " (16 terms)") == as_seen(short_number(sum)));
    }
    // A head opens to its columns.
    learner.click_in_inspector("head 2 (16 terms)");
    CHECK(learner.reads("d_head"));
}

TEST_CASE("question 15: what does LayerNorm do to this row?") {
    Learner learner;
    learner.click_on_strip("blocks.1.ln3.normalized");
    learner.click_cell("blocks.1.ln3.normalized", 2, 5);
    CHECK(learner.gestures <= 3);
    const Run& run = learner.run();
    const Tensor& x = run.value("blocks.1.resid_mid_cross");
    double mean = 0.0, squares = 0.0;
    for (Index d = 0; d < 64; ++d) mean += static_cast<double>(x.at(Cell{0, 2, d})) / 64.0;
    for (Index d = 0; d < 64; ++d) squares += std::pow(static_cast<double>(x.at(Cell{0, 2, d})) - mean, 2.0) / 64.0;
    CHECK(learner.reads("Mean " + short_number(mean)));
    CHECK(learner.reads("variance " + short_number(squares)));
    CHECK(learner.reads("scale " + short_number(std::sqrt(squares + 1e-5))));
    const auto gain = static_cast<double>(learner.value("layers.1.norm3.weight", {5})),
               shift = static_cast<double>(learner.value("layers.1.norm3.bias", {5})),
               value = static_cast<double>(learner.value("blocks.1.ln3.normalized", {0, 2, 5}));
    CHECK(learner.reads("gain " + short_number(gain) + ", plus the shift " + short_number(shift) + ", is " +
                        short_number(value)));
}
