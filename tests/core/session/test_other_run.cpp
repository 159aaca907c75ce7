// Rows that read the run that this one is compared with.
#include "app/core/files/saved_session.h"
#include "app/core/run/comparison.h"
#include "app/core/sheet/draft.h"
#include "engine/base/translate.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace decoderscope::testing;
using load::make_bundled_model;

namespace {

const AddRow kMoved = {"moved", "blocks.*.attn", "(pattern - other.pattern).abs().sum(-1)"};

// Σ_k |a − b|, by query and head.
std::vector<double> moved(const Tensor& a, const Tensor& b) {
    std::vector<double> sums;
    const std::size_t keys = static_cast<std::size_t>(a.axes().back().size);
    for (std::size_t i = 0; i < a.values().size(); i += keys) {
        sums.push_back(0.0);
        for (std::size_t key = i; key < i + keys; ++key)
            sums.back() += std::abs(static_cast<double>(a.values()[key]) - static_cast<double>(b.values()[key]));
    }
    return sums;
}

void check_row(const Session& session, const std::vector<double>& expected) {
    const auto row = session.shown().run->value("blocks.1.attn.moved").values();
    REQUIRE(row.size() == expected.size());
    for (std::size_t i = 0; i < row.size(); ++i) CHECK(std::abs(static_cast<double>(row[i]) - expected[i]) < 1e-5);
}

bool all_nan(const Tensor& tensor) {
    return std::ranges::all_of(tensor.values(), [](float value) { return std::isnan(value); });
}

}  // namespace

TEST_CASE("a row reads the pinned run, and follows another one, whatever is undone") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const Tensor plain = session.shown().run->value("blocks.1.attn.pattern");
    apply(session, command::Pin{});
    apply(session, command::MakeEdit{ScaleHead{"blocks.0.attn", 0, 0.0F}});
    const Tensor without_head = session.shown().run->value("blocks.1.attn.pattern");
    apply(session, command::MakeEdit{kMoved});
    const std::vector<double> between = moved(without_head, plain);
    CHECK(std::ranges::max(between) > 1e-3);
    check_row(session, between);

    apply(session, command::Pin{});
    check_row(session, std::vector<double>(between.size(), 0.0));
    apply(session, command::Undo{});
    CHECK(session.shown().run->plan().find("blocks.1.attn.moved") == nullptr);
    apply(session, command::Undo{});
    apply(session, command::MakeEdit{kMoved});
    check_row(session, between);  // of the plain run now, against the pinned one without the head
}

TEST_CASE("a pinned run keeps no run that it was compared with") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::Pin{});
    apply(session, command::MakeEdit{kMoved});
    apply(session, command::Pin{});
    REQUIRE(session.shown().pinned);
    CHECK(session.shown().pinned->scenario->other_run == nullptr);
    CHECK(session.shown().pinned->scenario->edits.empty());
    CHECK(session.scenario().other_run == session.shown().pinned);
}

TEST_CASE("a row reads a file, and is NaN as long as there is none, or no tensor like it in it") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("causal-lm-as-meant"));
    auto tensors = recorded_tensors(*session.shown().run);
    apply(session, command::MakeEdit{kMoved});
    CHECK(all_nan(session.shown().run->value("blocks.1.attn.moved")));
    write_safetensors(folder.file("all.safetensors"), tensors);
    apply(session, command::CompareWithFile{folder.file("all.safetensors")});
    check_row(session, std::vector<double>(session.shown().run->value("blocks.1.attn.moved").values().size(), 0.0));

    std::erase_if(tensors, [](const auto& one) { return one.first == "blocks.1.attn.pattern"; });
    write_safetensors(folder.file("fewer.safetensors"), tensors);
    apply(session, command::CompareWithFile{folder.file("fewer.safetensors")});
    CHECK(all_nan(session.shown().run->value("blocks.1.attn.moved")));
    CHECK_FALSE(all_nan(session.shown().run->value("blocks.0.attn.moved")));
    REQUIRE(session.message());
    CHECK(tr(session.message()->text) ==
          "fewer.safetensors has no tensor like other.blocks.1.attn.pattern, so that is NaN.");
}

TEST_CASE("what is typed about another run says what there is none of") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto said = [&](const std::string& formula) {
        core::sheet::Draft draft = core::sheet::new_row(session.shown(), session.step());
        draft.formula = formula;
        const Value<core::sheet::Outcome> outcome = core::sheet::outcome_of(session.derived(), session.shown(), draft);
        session.finish();
        return tr(core::sheet::outcome_of(session.derived(), session.shown(), draft)->error);
    };
    CHECK(said("other.logits - logits") ==
          "other.logits: there is no other run, expected one that is pinned, or a file, in Compare");
    apply(session, command::Pin{});
    CHECK(said("other.logits - logits").empty());
    CHECK(contains(said("other.logitz"), "there is no operand “other.logitz”; is “other.logits” meant?"));
    apply(session, command::TypeInput{.typed = {.target = Typed{.text = "1 2 3", .ids = true}}});
    CHECK(contains(said("other.logits"), "the other run has no such tensor of shape [batch 1, pos 3, vocab "));
}

TEST_CASE("on the command line a row reads the trace behind --other, or the command says what is missing") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("t.safetensors"), out = folder.file("row.safetensors");
    REQUIRE(run({"trace", "causal-lm-as-meant", "--set", "activation=gelu", "--out", trace}).status == 0);
    const std::string row = "moved = (logits - other.logits).abs().max()";
    const Outcome compared =
        run({"explain", "causal-lm-as-meant", "--row", row, "--cell", "moved[0]", "--other", trace});
    CHECK(compared.status == 0);
    CHECK(contains(compared.out, "other.logits"));
    const Outcome missing = run({"trace", "causal-lm-as-meant", "--row", row, "--out", out});
    CHECK(missing.status != 0);
    CHECK(is_one_line(missing.err));
    CHECK(contains(missing.err, "There is no other run yet, so other.logits is NaN"));
    CHECK_FALSE(std::ifstream(out).good());
    const Outcome unlike =
        run({"trace", "causal-lm-as-meant", "--tokens", "1 2 3", "--row", row, "--other", trace, "--out", out});
    CHECK(unlike.status != 0);
    CHECK(contains(unlike.err, "t.safetensors has no tensor like other.logits"));
    CHECK_FALSE(std::ifstream(out).good());
}

TEST_CASE("a row about rounding says that nothing is rounded in float32, once") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const AddRow row = {"lost", "", "(logits - exact.logits).abs().max()"};
    const std::string said =
        "This run is in float32, and nothing is rounded: choose bfloat16 or float16 beside Dropout.";
    apply(session, command::MakeEdit{row});
    REQUIRE(session.message());
    CHECK(tr(session.message()->text) == said);
    CHECK(session.shown().run->value("lost").values()[0] == 0.0F);
    apply(session, command::SetOption{"arithmetic", "bfloat16"});
    CHECK(session.shown().run->value("lost").values()[0] > 0.0F);
}
