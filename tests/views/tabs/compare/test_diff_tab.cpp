// The Diff tab: the commands that gestures give, and what is then shown.
#include "app/core/compare/comparison_text.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"
#include "tests/views/said.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;
using namespace decoderscope::views::compare;

namespace {

void open_tab(Driver& d) { d.press(Key::c); }

void switch_head_off(Driver& d, const std::string& attention, Index head) {
    d.apply(command::ScaleHeadTo{attention, head, 0.0F});
}

// Clicks on the button after the number next to a name: "head ◀ 0 ▶".
bool click_more(Driver& d, std::string_view name) {
    for (const DrawnText& label : d.seen()) {
        if (label.text != name) continue;
        std::optional<DrawnText> number;
        for (const DrawnText& piece : d.seen()) {
            const bool behind = piece.low.x > label.high.x && std::abs(piece.middle().y - label.middle().y) < 6.0F;
            if (behind && (!number || piece.low.x < number->low.x)) number = piece;
        }
        if (!number) return false;
        d.click({number->high.x + ImGui::GetFrameHeight() * 0.5F, number->middle().y});
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE("C opens the tab; without edits nothing differs, and it says so with the numbers") {
    Driver d;
    open_tab(d);
    CHECK(d.state.tab == "compare");
    CHECK(d.sees("Nothingdiffers:98tensorsareequalbitforbit."));
    CHECK(d.sees("largestdifference0"));
    REQUIRE(d.click_text("WhatwouldPre-Normchange?"));
    REQUIRE(d.last<command::RequestAuxRun>());
    CHECK(d.last<command::RequestAuxRun>()->variation->overrides == Overrides{{"norm_first", "true"}});
    CHECK(d.sees("norm_first=true"));
    CHECK(d.sees("tensorsdiffer."));
}

TEST_CASE("an edit: the verdict, the first step, the worst step, and both lead there") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 900});  // high enough for the whole list
    open_tab(d);
    switch_head_off(d, "blocks.1.attn", 2);
    const Comparison comparison =
        core::compare(recorded_tensors(*d.session.shown().run), recorded_tensors(*d.session.shown().unedited), 0.0);
    CHECK(d.sees(without_spaces(verdict_of(comparison))));
    REQUIRE(d.click_text("blocks.1.attn.z→"));
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step == "blocks.1.attn.z");
    CHECK(d.session.cursor().step == "blocks.1.attn.z");
    // The head that was switched off is then shown.
    CHECK(d.session.cursor().place.head == 2);
    CHECK(d.sees("32of32over"));
    d.apply(command::ChooseHead{0});
    CHECK(d.sees("0of32over"));
    const TensorDifference& worst = comparison.tensors[*comparison.first];
    CHECK(worst.cell[1] == 2);
    const std::string cell = without_spaces("[" + std::to_string(worst.cell[0]) + ", 2, ");
    CHECK(d.sees(without_spaces(first_difference(comparison).english())));
    std::optional<DrawnText> place;  // below the verdict, which names it, too
    for (const DrawnText& piece : d.seen())
        if (without_spaces(piece.text).find(cell) != std::string::npos && (!place || piece.low.y > place->low.y))
            place = piece;
    REQUIRE(place);
    d.click({place->middle().x, place->middle().y});
    REQUIRE(d.last<command::Follow>());
    CHECK(d.last<command::Follow>()->cell == worst.cell);
    CHECK(d.session.cursor().place.head == 2);
    CHECK(d.sees("32of32over"));
    // Away, and back with a click on a row of the list, where the worst comes first.
    d.session.apply(command::GoFirst{});
    d.forget();
    const TensorDifference& top = comparison.tensors[worst_first(comparison).front()];
    std::optional<DrawnText> row;
    d.settle();
    const auto head = d.find_on_stage("worstfirst");  // above the list
    REQUIRE(head);
    for (const DrawnText& piece : d.seen())
        if (piece.text.find(top.name) != std::string::npos && d.on_stage(piece) && piece.low.y > head->high.y && !row)
            row = piece;
    REQUIRE(row);
    d.click({row->middle().x, row->middle().y});
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step == top.name);
}

TEST_CASE("the list stands worst first or in order") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 900});  // high enough for the whole list
    open_tab(d);
    switch_head_off(d, "blocks.3.attn", 0);
    d.apply(command::GoFirst{});
    CHECK(d.sees("96of768"));
    REQUIRE(d.click_text("inorder"));
    CHECK(d.state.part<CompareTabState>().in_order);
    CHECK_FALSE(d.sees("96of768"));
    CHECK(d.sees("equal"));
    REQUIRE(d.click_text("worstfirst"));
    CHECK(d.sees("96of768"));
}

TEST_CASE("another configuration is computed as a companion run, and dropped when not shown") {
    Driver d;
    open_tab(d);
    REQUIRE(compare_with(d, "Configuration"));
    const auto* asked = d.last<command::RequestAuxRun>();
    REQUIRE(asked);
    CHECK(asked->name == "diff");
    REQUIRE(d.session.shown().companion("diff"));
    const std::size_t commands = d.commands.size();
    d.settle();
    CHECK(d.commands.size() == commands);  // requested once
    CHECK(d.sees("Thefirsttodifferis"));
    // Choose another key.
    REQUIRE(d.click_text("norm_first=true"));
    REQUIRE(d.click_text("activation=gelu_tanh"));
    CHECK(d.state.part<CompareTabState>().option == std::pair<std::string, std::string>{"activation", "gelu_tanh"});
    CHECK(d.session.shown().companion("diff")->scenario.config().activation == ActivationKind::gelu_tanh);
    CHECK(d.sees("Thefirsttodifferisblocks.0.mlp.post"));
    REQUIRE(compare_with(d, "Unedited"));
    REQUIRE(d.last<command::RequestAuxRun>());
    CHECK_FALSE(d.last<command::RequestAuxRun>()->variation);
    CHECK(d.session.shown().companions.empty());
}

TEST_CASE("a configuration that cannot be run says why") {
    Driver d;
    open_tab(d);
    d.state.part<CompareTabState>().against = Against::configuration;
    d.state.part<CompareTabState>().option = {"nhead", "7"};
    d.settle();
    CHECK(d.sees("Thisruncan'tbecomputed"));
    CHECK(d.sees("nhead"));
}

TEST_CASE("beside a pinned run of the model's quantised twin, weights are listed, too, and what they cost is said") {
    const std::string stored = DECODERSCOPE_TESTS_DIR "/reference/stored/";
    Driver d("reverse", 1.0F, {1280, 1100});  // high enough for the whole list
    const auto open_twin = [&](const std::string& path) {
        Scenario scenario = scenario_of(load_model(path));
        scenario.inputs = load_inputs(stored + "models/llama/inputs.safetensors", scenario.config());
        d.apply(command::OpenScenario{std::make_shared<const Scenario>(scenario), ""});
    };
    open_twin(stored + "models/llama/model.gguf");
    d.session.apply(command::Pin{});
    open_tab(d);
    REQUIRE(compare_with(d, "Pinned"));
    CHECK_FALSE(d.find_on_stage("weights"));
    open_twin(stored + "twin");
    CHECK(d.sees("fromBtoA:logitsmovedbyatmost0.767"));
    REQUIRE(d.click_text("weights"));
    CHECK(d.state.part<CompareTabState>().part == Listed::weights);
    CHECK(d.sees("layers.2.up_proj.weight"));
    CHECK(d.sees("Chooseaweightabove."));
    REQUIRE(d.click_text("steps"));
    CHECK(d.state.part<CompareTabState>().part == Listed::steps);
}

TEST_CASE("a pinned run: none at first, then the one that was kept") {
    Driver d;
    open_tab(d);
    REQUIRE(compare_with(d, "Pinned"));
    CHECK(d.sees("Norunispinnedyet."));
    REQUIRE(d.click_text("Pinthisrun"));
    REQUIRE(d.last<command::Pin>());
    CHECK(d.sees("pinned:causal-lm-as-meant,Post-Norm"));
    CHECK(d.sees("Nothingdiffers"));
    d.press(Key::n, with_shift);
    CHECK(d.sees("tensorsdiffer."));
}

TEST_CASE("the palette pins a run and opens the tab on it") {
    Driver d;
    d.press(Key::p, with_ctrl);
    d.hands.type("pin this run");
    d.press(Key::enter);
    REQUIRE(d.last<command::Pin>());
    CHECK(d.state.tab == "compare");
    CHECK(d.sees("Pinthisruninstead"));
}

TEST_CASE("head and batch are chosen beside the step, and the wheel zooms all three pictures") {
    Driver d;
    open_tab(d);
    switch_head_off(d, "blocks.0.attn", 1);
    d.apply(command::GoTo{"blocks.0.attn.z"});
    REQUIRE(click_more(d, "head"));
    REQUIRE(d.last<command::ChooseHead>());
    CHECK(d.session.cursor().place.head == 1);
    CHECK(d.sees("32of32over"));
    const auto title = find_text(d.seen(), "32of32over");
    d.hands.push(MouseMove{title->low.x, title->low.y + 90});
    for (int i = 0; i < 5; ++i) d.hands.push(Wheel{0, 1});
    d.settle();
    std::vector<int> widths;
    for (const auto& [key, picture] : d.textures.pictures())
        if (key - heatmap_key("diff") < 3) widths.push_back(picture.width);
    REQUIRE(widths.size() == 3);
    for (const int width : widths) CHECK(width < 8);
}

TEST_CASE("a typed file is compared within a tolerance, and missing tensors are listed") {
    const decoderscope::testing::TemporaryFolder folder;
    Driver d("causal-lm-as-meant", 1.0F, {1280, 900});  // high enough for the whole list
    NamedTensors trace = recorded_tensors(*d.session.shown().run);
    for (auto& [name, tensor] : trace) {
        if (name == "blocks.0.attn.pattern") tensor.writable()[0] += 1e-6F;
        if (name == "blocks.0.attn.q") tensor = tensor.with_axes({{"", tensor.size()}});
    }
    std::erase_if(trace, [](const auto& t) { return t.first == "blocks.0.attn.v"; });
    write_safetensors(folder.file("t.safetensors"), trace);
    open_tab(d);
    REQUIRE(compare_with(d, "File"));
    CHECK(d.sees("Nofileisopen."));
    REQUIRE(d.click_text("pathofa"));
    d.hands.type(folder.file("t.safetensors"));
    d.press(Key::enter);
    REQUIRE(d.last<command::CompareWithFile>());
    CHECK(d.last<command::CompareWithFile>()->path == folder.file("t.safetensors"));
    CHECK(d.state.part<CompareTabState>().tolerance == 1e-5);
    CHECK(d.sees("2arenotinbothorofanothershape"));
    CHECK(d.sees("blocks.0.attn.q→"));
    CHECK(d.sees("[768]inB"));
    d.apply(command::GoTo{"blocks.0.attn.v"});
    CHECK(d.sees("Nothingtosubtract:onlyinA."));
    d.apply(command::GoTo{"blocks.0.attn.pattern"});
    CHECK(d.sees("0of16over"));
    REQUIRE(d.click_text("1e-6"));
    CHECK(d.state.part<CompareTabState>().tolerance == 1e-6);
    d.click({5, 5});
    d.apply(command::CompareWithFile{folder.file("none.safetensors")});
    CHECK(said_beside(d).find("none.safetensors") != std::string::npos);
}

TEST_CASE("the strip goes to the step under the mouse, and its tooltip measures it") {
    Driver d;
    open_tab(d);
    switch_head_off(d, "blocks.0.attn", 0);
    d.forget();
    // The blocks' names are below the marks of their steps.
    const auto named = std::ranges::find_if(d.seen(), [](const DrawnText& piece) { return piece.text == "blocks.1"; });
    REQUIRE(named != d.seen().end());
    const ImVec2 at = Driver::line_above(*named);
    d.point(at);
    CHECK(d.sees("max|A−B|"));
    d.click(at);
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step.starts_with("blocks.1."));
    CHECK(d.session.cursor().step == d.last<command::GoTo>()->step);
}

TEST_CASE("the pictures: hovering shows both numbers and the difference, a click explains A's cell") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 860});
    open_tab(d);
    d.apply(command::PaintMask{"blocks.0.attn", 0, 0, 3, 0, false});
    const Cell cell = {0, 0, 3, 3};
    // The first picture is A.
    const ImVec2 at = d.heatmap("blocks.0.attn.pattern", "now").middle(3, 3);
    d.point(at);
    CHECK(d.sees("blocks.0.attn.pattern[0,0,3,3]"));
    CHECK(d.sees("query3"));
    d.click(at);
    REQUIRE(d.last<command::SelectCell>());
    CHECK(d.last<command::SelectCell>()->cell == cell);
}

TEST_CASE("three textures are uploaded once, and nothing is computed again for the same numbers") {
    Driver d;
    open_tab(d);
    switch_head_off(d, "blocks.0.attn", 0);
    d.apply(command::GoTo{"blocks.0.resid_mid"});
    const std::uint64_t number = d.state.part<CompareTabState>().shown.number();
    int uploads = 0;
    for (const auto& [key, picture] : d.textures.pictures()) uploads += picture.uploads;
    for (int i = 0; i < 5; ++i) d.settle();
    CHECK(d.state.part<CompareTabState>().shown.number() == number);
    int again = 0;
    for (const auto& [key, picture] : d.textures.pictures()) again += picture.uploads;
    CHECK(again == uploads);
}

TEST_CASE("in the Diff tab text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : testing::looked_at(bundled_models(), 4)) {
            Driver d(model.name, screen.scale, screen.size);
            open_tab(d);
            INFO(model.name << " at scale " << screen.scale);
            check_layout(d, screen.size);
            switch_head_off(d, "blocks.0.attn", 0);
            for (const Against against : {Against::unedited, Against::configuration, Against::pinned, Against::file}) {
                d.state.part<CompareTabState>().against = against;
                d.settle();
                check_layout(d, screen.size);
                if (against == Against::pinned) {
                    d.session.apply(command::Pin{});
                    d.apply(command::RemoveEdits{{0}});
                    check_layout(d, screen.size);
                }
                if (against != Against::configuration) continue;
                for (std::size_t i = 0; i < d.session.timeline().size(); ++i) {
                    const Step& step = d.session.shown().run->plan()[d.session.timeline()[i]];
                    if (!step.block.empty() && !step.block.ends_with(".0")) continue;
                    d.apply(command::GoTo{step.name});
                    INFO(step.name);
                    check_layout(d, screen.size);
                }
            }
        }
    }
}

TEST_CASE("a frame is drawn while a trace is being read, and says so") {
    const decoderscope::testing::TemporaryFolder folder;
    Driver d;
    open_tab(d);
    write_safetensors(folder.file("t.safetensors"), recorded_tensors(*d.session.shown().run));
    REQUIRE(compare_with(d, "File"));
    d.waits = false;
    d.session.apply(command::CompareWithFile{folder.file("t.safetensors")});
    d.settle_one();  // as it is drawn before the result is taken over
    CHECK(d.sees("Reading"));
    CHECK_FALSE(d.session.shown().trace_file);
    d.waits = true;
    d.settle();
    d.settle();
    CHECK_FALSE(d.sees("Reading"));
    CHECK(d.sees("t.safetensors"));
}

TEST_CASE("at 1280 x 800 the compared pictures are high enough to read, and the list of steps is folded above them") {
    Driver d("reverse");
    d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 3, 0.0F});
    d.session.finish();
    d.session.apply(command::GoTo{"blocks.1.cross_attn.pattern"});
    d.press(Key::c);
    d.settle();
    d.apply(command::GoTo{"blocks.1.cross_attn_out"});
    const CompareTabState& diff = d.state.part<CompareTabState>();
    REQUIRE(diff.shown);
    for (const Area& picture : d.pictures()) {
        if (!d.stage().contains(picture.low)) continue;
        CHECK(picture.high.y <= d.stage().high.y);
    }
    // Both upper pictures with their titles, labels and legends.
    const auto a = d.find_on_stage("now");
    REQUIRE(a);
    CHECK(d.stage().high.y - a->low.y >= 150.0F);
    // The list is folded, and opens at the step's name.
    const auto name = d.find_on_stage("blocks.1.cross_attn_out");
    REQUIRE(name);
    d.click(name->middle());
    const auto& tensors = diff.shown->comparison.tensors;
    const std::string worst = tensors[diff.shown->worst_first.front()].name;
    REQUIRE(d.sees(worst));
    REQUIRE(d.click_text(worst));
    CHECK(d.session.step().name == worst);
}

TEST_CASE("by position Diff shows where the step differs most, and a click selects that cell") {
    Driver d("reverse");
    d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 3, 0.0F});
    d.session.finish();
    d.session.apply(command::GoTo{"logits"});
    d.press(Key::c);
    d.settle();
    const auto label = d.find_on_stage("byposition");
    REQUIRE(label);
    // The third token of the row.
    const DrawnText* third = nullptr;
    for (const DrawnText& piece : d.seen())
        if (piece.text == "e" && piece.low.x > label->high.x && piece.low.y > label->low.y - 4.0F &&
            piece.low.y < label->high.y + 24.0F && (third == nullptr || piece.low.x < third->low.x))
            third = &piece;
    REQUIRE(third != nullptr);
    d.click(third->middle());
    REQUIRE(d.session.cursor().cell);
    const Tensor &before = d.session.shown().unedited->value("logits"), &after = d.session.shown().run->value("logits");
    Index largest = 0;
    const auto moved = [&](Index id) { return std::abs(after.at(Cell{0, 2, id}) - before.at(Cell{0, 2, id})); };
    for (Index id = 0; id < after.dim(2); ++id)
        if (moved(id) > moved(largest)) largest = id;
    CHECK(*d.session.cursor().cell == Cell{0, 2, largest});
}

TEST_CASE("the tip on a compared cell covers none of the three pictures") {
    Driver d("reverse");
    d.session.apply(command::ScaleHeadTo{"blocks.1.attn", 3, 0.0F});
    d.session.finish();
    d.session.apply(command::GoTo{"blocks.1.cross_attn.pattern"});
    d.press(Key::c);
    d.settle();
    const auto a = d.heatmap("blocks.1.cross_attn.pattern", "now");
    for (const auto& [row, column] : {std::pair{0, 0}, std::pair{5, 6}, std::pair{11, 2}}) {
        d.point(a.middle(row, column));
        const auto name = find_text(d.seen(), "blocks.1.cross_attn.pattern[0,3," + std::to_string(row));
        REQUIRE(name);
        const Area tip = {{name->low.x, name->low.y}, {name->low.x + 200.0F, name->low.y + 100.0F}};
        for (const Area& picture : d.pictures()) {
            if (!d.stage().contains(picture.low)) continue;
            const bool apart = tip.high.x < picture.low.x || tip.low.x > picture.high.x ||
                               tip.high.y < picture.low.y + 6.0F || tip.low.y > picture.high.y - 6.0F;
            CHECK(apart);
        }
    }
}
