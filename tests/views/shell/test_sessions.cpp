// Sessions in the window: saved, opened, recovered.
#include "app/core/files/session_file.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/files/sessions.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/strip_check.h"

#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::views::compare;
using namespace decoderscope::views::request;
using namespace decoderscope::views::dialogs;

namespace {

void type_path(Driver& d, const std::string& path) {
    d.type_over(path);
    d.press(Key::enter);
}

}  // namespace

TEST_CASE("Ctrl+S asks for a name once, then saves to it; Ctrl+O brings all back") {
    const TemporaryFolder folder;
    Driver d("causal-lm");
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    d.session.apply(command::GoTo{"blocks.2.attn.z"});
    d.state.tab = "masks";
    d.state.part<CompareTabState>().norms.gain_factor = 2.0F;
    d.press(Key::s, with_ctrl);
    CHECK(d.sees("Savethesession"));
    CHECK(std::filesystem::path(d.state.part<SavingState>().path).filename() == "causal-lm.dscope");
    type_path(d, folder.file("lesson"));
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.session.file() == folder.file("lesson.dscope"));
    CHECK(d.sees("Savedto"));
    REQUIRE(std::filesystem::exists(folder.file("lesson.dscope")));
    CHECK(read_session_file(folder.file("lesson.dscope")).view.tab == "masks");
    d.state.tab = "diff";
    d.press(Key::s, with_ctrl);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(read_session_file(folder.file("lesson.dscope")).view.tab == "compare");

    Driver other("pre-ln-layer");
    other.press(Key::o, with_ctrl);
    CHECK(other.sees("Openamodelorasession"));
    type_path(other, folder.file("lesson.dscope"));
    CHECK(other.state.dialog == Dialog::none);
    CHECK(other.session.scenario().about().name == "causal-lm");
    CHECK(other.session.scenario().edits.size() == 1);
    CHECK(other.session.cursor().step == "blocks.2.attn.z");
    CHECK(other.state.tab == "compare");
    CHECK(other.state.part<CompareTabState>().norms.gain_factor == 2.0F);
}

TEST_CASE("whatever number a session has somewhere, it opens or says in one sentence why not", "[long]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.dscope");
    const nlohmann::json whole = nlohmann::json::parse(
        session(R"("cursor": {"step": "blocks.1.attn.pattern", "batch": 0, "head": 1, "outer": 0, "cell": [0, 1, 2, 1]},
        "input": {"tokens": [[1, 2, 3], [4, 5, 6]], "attention_mask": [[1, 1, 1], [1, 1, 0]]}, "dropout_seed": 3,
        "edits": [{"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0.5},
                  {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 1, "query": 1, "key": 2, "keep": false},
                  {"edit": "set_cell", "tensor": "blocks.0.attn.z", "index": [0, 1, 2, 3], "value": 0.5}],
        "set": {"num_layers": 3, "layer_norm_eps": 1e-5}, "generated": {"0": [3]},
        "sampling": {"temperature": 1, "top_k": 2, "top_p": 0.5, "seed": 1},
        "norms": {"view": "gradients", "layers": 6, "gain": 1, "shift": 1, "row": 0,
                  "gradients": {"layers": 2, "d_model": 16, "seeds": 1, "encoder": false, "init": "xavier"}},
        "compare": {"with": "unedited", "tolerance": 1e-5, "bisect": {"tolerance": 1e-4}}, "tab": "heads",
        "labs": {"train": {"task": "reversal", "layers": 1, "d_model": 16, "batch": 4, "steps": 6, "seed": 0,
                           "runs": [{"norm_placement": "pre", "init": "xavier", "optimizer": "adam", "lr": 0.01,
                                     "warmup": 0, "clip": 0}]},
                 "canvas": {"weights": false, "look": {"step": "embed", "x": 1, "y": 1, "across": 100}},
                 "causes": {"page": "moves", "number": {"kind": "cell", "tensor": "logits", "cell": [0, 1, 2]},
                            "other": {"kind": "unedited"}}})"));
    Driver d("pre-ln-layer");
    const auto opened = [&](const nlohmann::json& one) {
        write_bytes(path, one.dump());
        d.apply(command::OpenModel{"pre-ln-layer"});
        d.apply(command::OpenSession{path});
        CHECK((d.session.scenario().about().name == "causal-lm" || d.session.message()));
    };
    opened(whole);
    REQUIRE(d.session.scenario().about().name == "causal-lm");
    const nlohmann::json places = whole.flatten();
    for (const auto& [place, value] : places.items()) {
        if (!value.is_number() || place == "/version") continue;
        for (const nlohmann::json& other : {nlohmann::json(-1), nlohmann::json(20'000), nlohmann::json(1e308),
                                            nlohmann::json(18446744073709551615U), nlohmann::json(nullptr)}) {
            nlohmann::json changed = whole;
            changed[nlohmann::json::json_pointer(place)] = other;
            if (place.starts_with("/norms")) changed["tab"] = "norms";
            if (place.starts_with("/compare")) changed["tab"] = "compare";
            if (place.starts_with("/labs")) changed["tab"] = place.substr(6, place.find('/', 6) - 6);
            INFO(place << ": " << other.dump());
            opened(changed);
        }
    }
}

TEST_CASE("the palette opens other dialogs") {
    Driver d("causal-lm");
    d.press(Key::p, with_ctrl);
    d.hands.type("save the session as");
    d.settle();
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::save_session);
    CHECK(d.sees("Savethesession"));
}

TEST_CASE("saving under another name says what it would replace") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.dscope"), "something");
    Driver d("causal-lm");
    d.press(Key::s, with_ctrl_shift);
    d.type_over(folder.file("a"));
    d.press(Key::enter);
    CHECK(d.sees("Replaceit?"));  // after a path that may take a line of its own
    CHECK(d.sees("Replace"));
    CHECK(read_bytes(folder.file("a.dscope")) == "something");
    d.press(Key::escape);
    CHECK(read_bytes(folder.file("a.dscope")) == "something");
    d.press(Key::s, with_ctrl_shift);
    type_path(d, folder.file("a"));
    CHECK(d.state.dialog == Dialog::save_session);
    REQUIRE(d.click_label("Replace"));
    CHECK(d.state.dialog == Dialog::none);
    CHECK(read_bytes(folder.file("a.dscope")) != "something");
    // Its own file is written without a question.
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    d.press(Key::s, with_ctrl);
    CHECK(d.state.dialog == Dialog::none);
    CHECK_FALSE(d.session.unsaved());
}

TEST_CASE("closing asks only if unsaved work would be lost") {
    const TemporaryFolder folder;
    const auto quit = [](Driver& d) { d.press(Key::q, with_ctrl); };
    {
        Driver d("causal-lm");
        d.session.apply(command::SetOption{"norm_first", "true"});
        quit(d);
        CHECK(d.last<request::CloseWindow>());
    }
    Driver d("causal-lm");
    d.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    quit(d);
    CHECK_FALSE(d.last<request::CloseWindow>());
    CHECK(d.sees("Savetheworkbeforeclosing?"));
    CHECK(d.sees("causal-lm,1edit"));
    REQUIRE(d.click_text("Cancel"));
    CHECK(d.state.dialog == Dialog::none);
    CHECK_FALSE(d.last<request::CloseWindow>());
    quit(d);
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::save_session);
    d.press(Key::escape);
    CHECK_FALSE(d.state.part<SavingState>().then_goes_on);
    quit(d);
    d.press(Key::enter);
    REQUIRE(d.state.dialog == Dialog::save_session);
    type_path(d, folder.file("a"));
    CHECK(d.last<request::CloseWindow>());
    CHECK(std::filesystem::exists(folder.file("a.dscope")));

    Driver other("causal-lm");
    other.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    quit(other);
    REQUIRE(other.click_text("Closewithoutsaving"));
    CHECK(other.last<request::CloseWindow>());
}

TEST_CASE("the open dialog lists sessions, also among what was opened before") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.dscope"),
                R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"}})");
    write_bytes(folder.file("notes.txt"), "");
    Driver d("pre-ln-layer");
    d.press(Key::o, with_ctrl);
    d.type_over(folder.file(""));
    CHECK(d.sees("a.dscope"));
    CHECK_FALSE(d.sees("notes.txt"));
    REQUIRE(d.click_text("a.dscope"));
    CHECK(d.session.scenario().about().name == "causal-lm");

    Driver again("pre-ln-layer");
    again.state.settings.recent = {folder.file("a.dscope")};
    REQUIRE(again.click_text("pre-ln-layer"));
    CHECK(again.sees("Savethesession"));
    REQUIRE(again.click_text("a.dscope"));
    CHECK(again.session.scenario().about().name == "causal-lm");
}

TEST_CASE("Ctrl+S asks before it replaces a session that another program has written to") {
    const TemporaryFolder folder;
    const std::string path = folder.file("lesson.dscope");
    const bool by_dialog = GENERATE(false, true);  // with its own name typed again, or by the button
    Driver d("causal-lm");
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    d.session.apply(command::SaveSession{path, saved_view(d.state)});
    d.session.finish();
    const auto press = [&] { d.press(Key::s, with_ctrl); };
    press();
    CHECK(d.state.dialog == Dialog::none);
    const std::string theirs = read_bytes(path) + "\n\n";
    write_bytes(path, theirs);
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    press();
    CHECK(d.sees("anotherprogramhaswrittentoit"));
    CHECK(d.state.part<SavingState>().path == path);
    d.press(Key::escape);
    CHECK(read_bytes(path) == theirs);
    press();
    if (by_dialog) {
        d.press(Key::enter);
        CHECK(d.sees("alreadyexists.Replaceit?"));
        CHECK(read_bytes(path) == theirs);
        d.press(Key::enter);
    } else {
        REQUIRE(d.click_label("Save"));
        CHECK(read_bytes(path) == theirs);
        REQUIRE(d.click_label("Replace"));
    }
    d.session.finish();
    CHECK(read_session_file(path).run.edits.size() == 2);
    d.settle();
    press();
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("work that was left unsaved is offered in a bar: open it, discard it, or later") {
    const TemporaryFolder folder;
    const auto leave = [&] {
        Driver d("causal-lm");
        d.session.autosave_in(folder.path());
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
        d.session.keep({.tab = "heads"});
        d.session.end(false);
    };
    leave();
    {
        Driver d("pre-ln-layer");
        d.session.autosave_in(folder.path());
        d.settle();
        CHECK(d.sees("causal-lm,1edit"));
        REQUIRE(d.click_text("Later"));
        CHECK_FALSE(d.sees("causal-lm,1edit"));
    }
    {
        Driver d("pre-ln-layer");
        d.session.autosave_in(folder.path());
        d.settle();
        REQUIRE(d.click_text("Openit"));
        CHECK(d.session.scenario().about().name == "causal-lm");
        CHECK(d.state.tab == "heads");
        CHECK_FALSE(d.sees("Workthatwasnotsaved"));
        d.session.keep({});
        d.session.end(false);
    }
    {
        Driver d("pre-ln-layer");
        d.session.autosave_in(folder.path());
        d.settle();
        REQUIRE(d.click_text("Discard"));
        CHECK_FALSE(d.sees("Workthatwasnotsaved"));
    }
    Driver d("pre-ln-layer");
    d.session.autosave_in(folder.path());
    d.settle();
    CHECK_FALSE(d.sees("Workthatwasnotsaved"));
}

TEST_CASE("the offer to recover says all that it holds, in as many lines as that takes") {
    const TemporaryFolder folder;
    {
        Driver d("reverse");
        d.session.autosave_in(folder.path());
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
        d.session.apply(command::TypeInput{.typed = {.source = Typed{.text = "hello"}}});
        d.session.apply(command::SetOption{"norm_first", "false"});
        d.session.finish();
        d.session.apply(command::Pin{});
        d.session.finish();
        d.session.keep({});
        d.session.end(false);
    }
    for (const auto& [scale, size] : kWindows) {
        Driver d("pre-ln-layer", scale, size);
        d.session.autosave_in(folder.path());
        d.settle();
        INFO(size.x << " x " << size.y << ", text " << scale);
        const auto first = find_text(d.seen(), "Workthatwasnotsaved");
        REQUIRE(first);
        std::string all;
        for (const DrawnText& piece : d.seen())
            if (piece.low.y >= first->low.y - 2 && piece.low.y < first->low.y + 60 * scale &&
                piece.low.x < first->high.x)
                all += piece.text;
        CHECK(all.find("1edit,achangedinput,changedsettings,apinnedrun,from") != std::string::npos);
        const auto button = find_text(d.seen(), "Openit");
        REQUIRE(button);
        check_strip(d, {{0, first->low.y - 4 * scale}, {size.x, button->high.y + 8 * scale}});
    }
}
