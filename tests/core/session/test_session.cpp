// What the user's commands do to the scenario and to what is shown.
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <fstream>

using namespace decoderscope::testing;

namespace {

Session open(std::string_view model = "causal-lm-as-meant") { return Session(make_bundled_model(model)); }

const Tensor& value(const Session& session, const std::string& name) { return session.shown().run->value(name); }

// Every tensor of a trace by name, to compare whole runs.
std::vector<std::pair<std::string, Tensor>> everything(const Session& session) {
    return recorded_tensors(*session.shown().run);
}

bool same_runs(const std::vector<std::pair<std::string, Tensor>>& a,
               const std::vector<std::pair<std::string, Tensor>>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].first != b[i].first || !same_bits(a[i].second, b[i].second)) return false;
    return true;
}

}  // namespace

TEST_CASE("a session opens on a computed attention pattern") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const Session session = open(model.name);
        const LookAt& look_at = session.scenario().model()->look_at;
        CHECK(session.cursor().step == (look_at.step.empty() ? "blocks.0.attn.pattern" : look_at.step));
        CHECK(session.cursor().step.ends_with("attn.pattern"));
        CHECK(session.cursor().place.head == look_at.head);
        CHECK_FALSE(session.stale());
        CHECK_FALSE(value(session, session.cursor().step).empty());
        CHECK(session.shown().unedited == session.shown().run);
        CHECK_FALSE(session.message());
    }
}

TEST_CASE("the cursor stays within the batch's rows and the attention's heads, however far it is sent") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        Session session = open(model.name);
        const Axes& axes = session.shown().run->plan().find(session.cursor().step)->axes;  // [batch, head, query, key]
        REQUIRE(axes.size() == 4);
        for (const Index beyond : {axes[1].size, axes[1].size + 1, Index{1'000'000}}) {
            session.apply(command::ChooseHead{beyond});
            CHECK(session.cursor().place.head == axes[1].size - 1);
        }
        for (const Index beyond : {axes[0].size, Index{1'000'000}}) {
            session.apply(command::ChooseBatch{beyond});
            CHECK(session.cursor().place.batch == axes[0].size - 1);
        }
        session.apply(command::ChooseHead{-1});
        session.apply(command::ChooseBatch{-1});
        CHECK(session.cursor().place.head == 0);
        CHECK(session.cursor().place.batch == 0);
    }
}

TEST_CASE("painting a mask cell changes that head's pattern and what follows, and undo takes it back bit for bit") {
    Session session = open();
    const auto before = everything(session);
    const Tensor pattern_before = value(session, "blocks.0.attn.pattern");
    apply(session, command::PaintMask{"blocks.0.attn", 0, 1, 2, 0, false});
    const Tensor& pattern = value(session, "blocks.0.attn.pattern");
    for (Index i = 0; i < pattern.size(); ++i) {
        const Cell cell = pattern.cell(i);
        const bool painted_row = cell[0] == 0 && cell[1] == 1 && cell[2] == 2;
        if (!painted_row) CHECK(pattern.data()[i] == pattern_before.data()[i]);
    }
    CHECK(pattern.at(Cell{0, 1, 2, 0}) == 0.0F);
    CHECK_FALSE(same_bits(value(session, "logits"), session.shown().unedited->value("logits")));
    CHECK(same_runs(recorded_tensors(*session.shown().unedited), before));
    apply(session, command::Undo{});
    CHECK(same_runs(everything(session), before));
    CHECK(session.scenario().edits.empty());
    apply(session, command::Redo{});
    CHECK(value(session, "blocks.0.attn.pattern").at(Cell{0, 1, 2, 0}) == 0.0F);
}

TEST_CASE("a drag of the brush is one change, and painting back leaves no edit") {
    Session session = open();
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 1, 0, false});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 2, 0, false, true});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 3, 0, false, true});
    CHECK(session.scenario().edits.size() == 3);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.empty());
    CHECK_FALSE(session.can_undo());
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 1, 0, false});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 1, 0, true});
    CHECK(session.scenario().edits.empty());
}

TEST_CASE("a mask painted for all heads can be painted back for one") {
    Session session = open();
    apply(session, command::PaintMask{"blocks.0.attn", 0, std::nullopt, 1, 0, false});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 3, 1, 0, true});
    const Tensor& mask = value(session, "blocks.0.attn.mask");
    CHECK(mask.at(Cell{0, 3, 1, 0}) == 1.0F);
    CHECK(mask.at(Cell{0, 2, 1, 0}) == 0.0F);
}

TEST_CASE("a head switched off hands over zeros") {
    Session session = open();
    apply(session, command::ScaleHeadTo{"blocks.1.attn", 2, 0.0F});
    const Tensor& z = value(session, "blocks.1.attn.z");
    for (Index i = 0; i < z.size(); ++i)
        if (z.cell(i)[1] == 2) REQUIRE(z.data()[i] == 0.0F);
    apply(session, command::ScaleHeadTo{"blocks.1.attn", 2, 0.5F});
    CHECK(session.scenario().edits.size() == 1);
    apply(session, command::ScaleHeadTo{"blocks.1.attn", 2, 1.0F});
    CHECK(session.scenario().edits.empty());
    CHECK(same_runs(everything(session), recorded_tensors(*session.shown().unedited)));
}

TEST_CASE("a cell typed over is what follows is computed from") {
    Session session = open();
    apply(session, command::TypeOver{"layers.0.self_attn.q_proj.weight", {0, 0}, 7.0F});
    CHECK_FALSE(same_bits(value(session, "blocks.0.attn.q"), session.shown().unedited->value("blocks.0.attn.q")));
    CHECK(same_bits(value(session, "blocks.0.attn.k"), session.shown().unedited->value("blocks.0.attn.k")));
    apply(session, command::TypeOver{"blocks.4.resid_post", {1, 2, 3}, -4.0F});
    CHECK(value(session, "blocks.4.resid_post").at(Cell{1, 2, 3}) == -4.0F);
    apply(session, command::TypeOver{"blocks.4.resid_post", {1, 2, 3}, -5.0F});
    CHECK(session.scenario().edits.size() == 2);
    apply(session, command::RemoveEdits{{0}});
    CHECK(same_bits(value(session, "blocks.0.attn.q"), session.shown().unedited->value("blocks.0.attn.q")));
}

TEST_CASE("the norm flips with the same weights, and flips back bit for bit") {
    Session session = open();
    const auto before = everything(session);
    apply(session, command::SetOption{"norm_first", "true"});
    const auto flipped = everything(session);
    CHECK(flipped[1].first == "blocks.0.resid_pre");
    CHECK(flipped[2].first == "blocks.0.ln1.scale");
    CHECK(before[2].first == "blocks.0.attn.q");
    CHECK(session.cursor().step == "blocks.0.attn.pattern");
    apply(session, command::SetOption{"norm_first", "false"});
    CHECK(same_runs(everything(session), before));
}

TEST_CASE("dropout records its masks while it is on, and the cursor leaves them when it is off") {
    Session session = open();
    apply(session, command::SetDropout{7});
    apply(session, command::GoTo{"blocks.0.attn.pattern.dropped"});
    CHECK(session.cursor().step == "blocks.0.attn.pattern.dropped");
    apply(session, command::SetDropout{std::nullopt});
    CHECK(session.cursor().step == "blocks.0.attn.pattern");
}

TEST_CASE("an attention that stayed in sight is forgotten with its layer") {
    Session session = open("pre-ln-encdec");
    const std::string last = session.shown().run->plan().attentions().back();
    apply(session, command::GoTo{last + ".pattern"});
    apply(session, command::GoTo{"ln_final.normalized"});
    REQUIRE(session.attention() == last);
    apply(session, command::SetOption{"num_layers", "1"});
    REQUIRE(session.shown().run->plan().find(last + ".pattern") == nullptr);
    CHECK(session.cursor().step == "ln_final.normalized");
    CHECK(session.cursor().attention.empty());
}

TEST_CASE("stepping moves along the timeline and stops at its ends") {
    Session session = open();
    apply(session, command::GoFirst{});
    CHECK(session.cursor().step == "embed");
    apply(session, command::Move{-1});
    CHECK(session.cursor().step == "embed");
    apply(session, command::Move{1});
    CHECK(session.cursor().step == "blocks.0.resid_pre");
    apply(session, command::MoveLayer{3});
    CHECK(session.cursor().step == "blocks.3.resid_pre");
    apply(session, command::MoveLayer{3});
    CHECK(session.cursor().step == "blocks.3.resid_pre");
    apply(session, command::GoLast{});
    CHECK(session.cursor().step == "probs");
    apply(session, command::Move{1});
    CHECK(session.cursor().step == "probs");
}

TEST_CASE("following an operand leads to its cell, and back") {
    Session session = open();
    apply(session, command::SelectCell{{0, 1, 2, 0}});
    const Cursor start = session.cursor();
    apply(session, command::Follow{"blocks.0.attn.k", {2, 5, 3, 1}});
    CHECK(session.cursor().step == "blocks.0.attn.k");
    CHECK(session.cursor().place == Place{2, 5});
    apply(session, command::Follow{"layers.0.self_attn.k_proj.weight", {41, 3}});
    CHECK(session.step().role == Role::parameter);
    CHECK(session.trail().size() == 2);
    CHECK(session.timeline()[session.timeline_position()] == session.shown().run->plan().find("blocks.0.attn.k")->id);
    apply(session, command::GoBack{2});
    CHECK(session.cursor() == start);
    CHECK(session.trail().empty());
}

TEST_CASE("attn.result is computed on demand") {
    Session session = open();
    CHECK(value(session, "blocks.0.attn.result").empty());
    apply(session, command::GoTo{"blocks.0.attn.result"});
    CHECK_FALSE(value(session, "blocks.0.attn.result").empty());
    CHECK(value(session, "blocks.1.attn.result").empty());

    // What is selected in it is selected in a window that opens on it, though the tensor isn't there yet.
    apply(session, command::SelectCell{{0, 1, 2, 3}});
    SavedSession work = session.work({});
    Session again(work);
    again.finish();
    CHECK(again.cursor().cell == Cell{0, 1, 2, 3});
    work.cursor.cell = Cell{0, 99, 2, 3};
    Session outside(work);
    outside.finish();
    CHECK_FALSE(outside.cursor().cell);
}

TEST_CASE("what is looked at while another text is computed is computed from that text") {
    Session session(make_bundled_model("reverse"));
    session.apply(command::TypeInput{.typed = {.target = Typed{.text = "1\n2\n3\n4", .ids = true}}});
    REQUIRE(session.stale());
    apply(session, command::GoTo{"blocks.0.attn.result"});
    const Inputs& inputs = session.shown().scenario.inputs;
    CHECK(inputs.batch() == 4);
    CHECK(value(session, "tokens").axes() == inputs.tokens.axes());
    CHECK(value(session, "blocks.0.attn.result").dim(0) == 4);
}

TEST_CASE("batch and head stay in range, and the selected cell moves along") {
    Session session = open();
    apply(session, command::SelectCell{{0, 0, 3, 1}});
    apply(session, command::ChooseHead{6});
    CHECK(session.cursor().cell == Cell{0, 6, 3, 1});
    apply(session, command::ChooseBatch{99});
    CHECK(session.cursor().place == Place{2, 6});
    CHECK(session.cursor().cell == Cell{2, 6, 3, 1});
}

TEST_CASE("of a step that shows one position at a time, another is chosen, and the selected cell moves along") {
    Session session = open("experts");
    apply(session, command::GoTo{"blocks.0.mlp.post"});  // [batch, pos, slot, d_mlp]
    const Axes axes = value(session, "blocks.0.mlp.post").axes();
    REQUIRE(axes[1].name == axis::pos);
    apply(session, command::SelectCell{{0, 0, 1, 3}});
    apply(session, command::ChooseOuter{2});
    CHECK(session.cursor().place == Place{0, 0, 2});
    CHECK(session.cursor().cell == Cell{0, 2, 1, 3});
    apply(session, command::ChooseHead{1});
    CHECK(session.cursor().place == Place{0, 1, 2});
    apply(session, command::ChooseOuter{999});
    CHECK(session.cursor().place.outer == axes[1].size - 1);
    apply(session, command::ChooseOuter{-1});
    CHECK(session.cursor().place.outer == 0);
}

TEST_CASE("what fails leaves everything as it was, with a sentence") {
    Session session = open();
    const auto before = everything(session);
    const std::vector<std::pair<Command, std::string>> bad = {
        {command::OpenModel{"/nowhere"}, "/nowhere"},
        {command::SetOption{"norm", "batchnorm"}, "norm"},
        {command::SetOption{"nhead", "7"}, "nhead"},
        {command::SetOption{"d_model", "128"}, "expected"},
        {command::TypeOver{"blocks.9.attn.z", {0, 0, 0, 0}, 1.0F}, "blocks.9.attn.z"},
        {command::TypeOver{"tokens", {0, 0}, 99.0F}, "99"},
        {command::Export{"/nowhere/at/all.png"},
         std::filesystem::path("/nowhere/at/all.png").make_preferred().string()},
        {command::Export{"picture.bmp"}, "picture.bmp"},
    };
    for (const auto& [command, names] : bad) {
        INFO(names);
        apply(session, command);
        REQUIRE(session.message());
        CHECK(session.message()->failed);
        CHECK(session.message()->text.english().find(names) != std::string::npos);
        CHECK(session.message()->text.english().find('\n') == std::string::npos);
        CHECK(same_runs(everything(session), before));
        CHECK_FALSE(session.can_undo());
    }
    apply(session, command::Move{1});
    CHECK_FALSE(session.message());
}

TEST_CASE("the stage's heatmap is exported") {
    const decoderscope::testing::TemporaryFolder folder;
    Session session = open();
    apply(session, command::Export{folder.file("pattern.csv")});
    REQUIRE(session.message());
    CHECK_FALSE(session.message()->failed);
    std::ifstream file(folder.file("pattern.csv"));
    std::string first;
    std::getline(file, first);
    CHECK(first.find("query") != std::string::npos);
}

TEST_CASE("a companion is another run next to the shown one, and follows its edits") {
    Session session = open();
    apply(session, command::RequestAuxRun{"norm", Variation{.overrides = {{"norm_first", "true"}}}});
    const Companion* other = session.shown().companion("norm");
    REQUIRE(other != nullptr);
    CHECK(other->scenario.config().norm_first);
    CHECK_FALSE(session.scenario().config().norm_first);
    const Tensor before = other->run->value("logits");
    apply(session, command::TypeOver{"layers.0.self_attn.q_proj.weight", {0, 0}, 7.0F});
    CHECK_FALSE(same_bits(session.shown().companion("norm")->run->value("logits"), before));
    apply(session, command::Undo{});
    CHECK(same_bits(session.shown().companion("norm")->run->value("logits"), before));
    apply(session, command::RequestAuxRun{"norm", Variation{.overrides = {{"nhead", "7"}}}});
    CHECK(session.shown().companion("norm") == nullptr);
    CHECK(session.shown().companions.at("norm").error.english().find("nhead") != std::string::npos);
    CHECK_FALSE(session.message());
    apply(session, command::RequestAuxRun{"norm", std::nullopt});
    CHECK(session.shown().companions.empty());
}

TEST_CASE("a companion may have more blocks than the model, the first ones with the model's own weights") {
    Session session = open("simple-decoder");
    apply(session, command::RequestAuxRun{"deep", Variation{.layers = 6}});
    const Companion* deep = session.shown().companion("deep");
    REQUIRE(deep != nullptr);
    CHECK(deep->run->plan().find("blocks.5.resid_post") != nullptr);
    CHECK(same_bits(deep->run->value("blocks.0.resid_post"), value(session, "blocks.0.resid_post")));
    CHECK_FALSE(same_bits(deep->run->value("blocks.1.attn.q"), deep->run->value("blocks.2.attn.q")));
}
