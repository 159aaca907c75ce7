// The dialog that opens a model: paths, progress, questions, and what can't be read.
#include "app/views/dialogs/dialogs.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/state_dict_folder.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;
using namespace decoderscope::views::dialogs;

namespace {

void open_model_dialog(Driver& d) { d.press(Key::o, with_ctrl); }

void enter(Driver& d) { d.press(Key::enter); }

// The dialog over the window is drawn last: from its heading on, nothing overlaps or leaves the screen.
void check_dialog(const Driver& d) {
    const auto& seen = d.seen();
    const auto heading = std::find_if(seen.begin(), seen.end(),
                                      [](const DrawnText& piece) { return piece.text.find("Openamodel") == 0; });
    REQUIRE(heading != seen.end());
    for (auto a = heading; a != seen.end(); ++a) {
        INFO(a->text);
        CHECK((a->low.x >= heading->low.x - 4.0F && a->high.x <= 1280 && a->high.y <= 800));
        for (auto b = a + 1; b != seen.end(); ++b) {
            INFO(b->text);
            const float wide = std::min(a->high.x, b->high.x) - std::max(a->low.x, b->low.x);
            const float high = std::min(a->high.y, b->high.y) - std::max(a->low.y, b->low.y);
            CHECK((wide <= 1.0F || high <= 2.0F));
        }
    }
}

}  // namespace

TEST_CASE("a path that is typed lists what lies there, Tab completes it, Enter opens it") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("checkpoints"));
    std::filesystem::copy(state_dict_folder("heads-gpt") + "/model.safetensors",
                          folder.file("checkpoints/gpt.safetensors"));
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    CHECK(d.sees("Openamodel"));
    d.type_over(folder.file("ch"));
    CHECK(d.sees("checkpoints/"));
    d.press(Key::tab);
    CHECK(d.state.part<OpenDialogState>().path.data() == folder.file("checkpoints/"));
    CHECK(d.sees("gpt.safetensors"));
    check_dialog(d);
    d.hands.tap(Key::tab);
    enter(d);
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->name == folder.file("checkpoints/gpt.safetensors"));
    REQUIRE(d.session.opening());
    CHECK(d.session.opening()->asks);
}

TEST_CASE("a click goes into a folder and opens weights") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("checkpoints"));
    std::filesystem::copy(state_dict_folder("heads-gpt") + "/model.safetensors",
                          folder.file("checkpoints/gpt.safetensors"));
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over(folder.file(""));
    REQUIRE(d.click_text("checkpoints/"));
    CHECK(d.state.part<OpenDialogState>().path.data() == folder.file("checkpoints/"));
    REQUIRE(d.click_text("gpt.safetensors"));
    REQUIRE(d.session.opening());
    CHECK(d.session.opening()->asks);
    CHECK(d.sees("oneamatrixperhead") == false);
    CHECK(d.sees("onematrixperhead"));
}

TEST_CASE("the list is chosen by the arrow keys and Enter, and Enter in an empty field leaves the keyboard there") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("a-folder"));
    std::filesystem::create_directory(folder.file("b-folder"));
    std::filesystem::copy(state_dict_folder("heads-gpt") + "/model.safetensors",
                          folder.file("b-folder/gpt.safetensors"));
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over(folder.file(""));
    for (const Key key : {Key::down, Key::down, Key::up, Key::down}) d.press(key);
    enter(d);
    CHECK(d.state.part<OpenDialogState>().path == folder.file("b-folder/"));
    CHECK(d.last<command::OpenModel>() == nullptr);
    CHECK(typing());     // the keyboard is in the field again
    d.hands.type("gp");  // behind what stands there
    d.settle();
    CHECK(d.state.part<OpenDialogState>().path == folder.file("b-folder/gp"));
    d.press(Key::up);  // from nowhere to the last
    enter(d);
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->name == folder.file("b-folder/gpt.safetensors"));
    d.press(Key::escape);
    d.forget();
    open_model_dialog(d);
    d.hands.tap(Key::a, with_ctrl);
    d.press(Key::backspace);
    REQUIRE(d.state.part<OpenDialogState>().path.empty());
    enter(d);
    CHECK(d.last<command::OpenModel>() == nullptr);
    CHECK(typing());
    d.hands.type("x");
    d.settle();
    CHECK(d.state.part<OpenDialogState>().path == "x");
}

TEST_CASE("the name of a bundled model is listed, completed and opened") {
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.hands.type("vers");
    d.settle();
    CHECK_FALSE(d.sees("startslikethis"));
    CHECK(d.sees("verses"));
    d.press(Key::tab);
    CHECK(d.state.part<OpenDialogState>().path == "verses");
    enter(d);
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->name == "verses");
}

TEST_CASE("a state_dict's form says what was recognised, asks the rest, and opens with the answers") {
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over(state_dict_folder("nn-transformer-decoder-pre"));
    enter(d);
    CHECK(d.sees("torch.nn.TransformerDecoder"));
    CHECK(d.sees("d_model16"));
    CHECK(d.sees("num_layers2"));
    CHECK(d.sees("nhead"));
    CHECK(d.sees("aguess"));
    CHECK(d.sees("norm_first"));
    CHECK(d.sees("layer_norm_eps"));
    check_dialog(d);
    d.state.part<OpenDialogState>().answers["nhead"] = "4";
    REQUIRE(d.click_label("relu"));  // a list: there are more than fit side by side
    REQUIRE(d.click_label("gelu"));
    CHECK(d.state.part<OpenDialogState>().answers["activation"] == "gelu");
    enter(d);
    CHECK_FALSE(d.session.opening());
    CHECK(d.session.shown().scenario.config().nhead == 4);
    CHECK(d.session.shown().scenario.config().activation == ActivationKind::gelu);
    CHECK(d.state.dialog == Dialog::none);
    CHECK_FALSE(d.sees("Openamodel"));
}

TEST_CASE("the form shows their tensors beside ours; one can be called otherwise, and all be asked again") {
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over(state_dict_folder("decoder"));
    enter(d);
    REQUIRE(d.session.opening());
    REQUIRE(d.click_text("Whateachtensorisrecognisedas"));
    CHECK(d.sees("layer_list.*.down_proj"));
    CHECK(d.sees("[12,16]"));
    check_dialog(d);
    for (NamesRow& row : d.state.part<OpenDialogState>().names) {
        if (row.theirs == "layer_list.*.layernorm_att.weight") row.ours = "layers.*.norm2.weight";
        if (row.theirs == "layer_list.*.layernorm_ffn.weight") row.ours = "layers.*.norm1.weight";
    }
    d.state.part<OpenDialogState>().answers["nhead"] = "4";
    enter(d);
    REQUIRE_FALSE(d.session.opening());
    const Mapping& mapping = d.session.scenario().model()->mapping;
    REQUIRE(mapping.contains("layer_list.1.layernorm_att.weight"));
    CHECK(mapping.at("layer_list.1.layernorm_att.weight").at(0).name == "layers.1.norm2.weight");
    // The toolbar says that something was assumed; a click shows it, to be changed.
    REQUIRE(d.click_text("whatwasassumed"));
    CHECK(d.state.dialog == Dialog::open_model);
    CHECK(d.sees("norm_first"));
    CHECK(d.sees("attention_scale"));
    check_dialog(d);
}

TEST_CASE("answers that don't fit leave the form and say why") {
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over(state_dict_folder("decoder"));
    enter(d);
    REQUIRE(d.session.opening());
    d.state.part<OpenDialogState>().answers["layer_norm_eps"] = "small";
    enter(d);
    REQUIRE(d.session.opening());
    CHECK(d.sees("layer_norm_eps:expectedapositivenumber"));
    CHECK(d.state.part<OpenDialogState>().answers["layer_norm_eps"] == "small");
    REQUIRE(d.click_text("Anotherone"));
    CHECK_FALSE(d.session.opening());
    CHECK(d.state.dialog == Dialog::open_model);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.session.shown().scenario.about().name == "pre-ln-layer");
}

TEST_CASE("what can't be opened says so in the dialog, which keeps what was typed") {
    Driver d("pre-ln-layer");
    open_model_dialog(d);
    d.type_over("/nowhere/at/all");
    enter(d);
    CHECK(d.state.dialog == Dialog::open_model);
    CHECK(std::ranges::count_if(
              d.seen(), [](const DrawnText& text) { return text.text.find("nosuchmodel") != std::string::npos; }) == 1);
    CHECK(std::string(d.state.part<OpenDialogState>().path.data()) == "/nowhere/at/all");
    CHECK(d.session.shown().scenario.about().name == "pre-ln-layer");
    d.type_over("simple-decoder");
    enter(d);
    CHECK(d.session.shown().scenario.about().name == "simple-decoder");
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("while a model is read the dialog says so, the window stays as it was, and Esc stops it") {
    Driver d("pre-ln-layer");
    d.waits = false;  // so that the model that was read is not taken over
    for (const bool escape : {true, false}) {
        open_model_dialog(d);
        d.type_over("simple-decoder");
        enter(d);
        REQUIRE(d.session.opening());
        CHECK(d.sees("Readingsimple-decoder"));
        CHECK(d.sees("Thecurrentmodelstays"));
        CHECK(d.sees("blocks.0.attn.pattern"));
        CHECK(d.session.scenario().about().name == "pre-ln-layer");
        if (escape)
            d.hands.tap(Key::escape);
        else
            REQUIRE(d.click_text("Cancel"));
        d.settle();
        CHECK_FALSE(d.session.opening());
        CHECK(d.state.dialog == Dialog::none);
        CHECK_FALSE(d.sees("Reading"));
    }
    open_model_dialog(d);
    d.type_over("simple-decoder");
    enter(d);
    d.waits = true;
    d.settle();
    CHECK(d.session.shown().scenario.about().name == "simple-decoder");
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("a model that takes long to read brings the dialog by itself") {
    Driver d("pre-ln-layer");
    d.waits = false;
    d.session.apply(command::OpenModel{"simple-decoder", {}});  // from the menu, or dropped
    std::this_thread::sleep_for(std::chrono::milliseconds(201));
    d.settle();
    CHECK(d.state.dialog == Dialog::open_model);
    CHECK(d.sees("Readingsimple-decoder"));
    d.waits = true;
    d.settle();
    CHECK(d.session.shown().scenario.about().name == "simple-decoder");
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("a pickled file is answered with three lines to copy, however it was opened") {
    const TemporaryFolder folder;
    write_bytes(folder.file("gpt.pt"), "PK\x03\x04");
    Driver d("pre-ln-layer");
    Copied clipboard;
    compat::set_clipboard(clipboard);
    d.session.apply(command::OpenModel{folder.file("gpt.pt"), {}});  // dropped
    d.session.finish();
    d.settle();
    CHECK(d.state.dialog == Dialog::open_model);
    CHECK(d.sees("importtorch"));
    CHECK(d.sees("save_file"));
    check_dialog(d);
    REQUIRE(d.click_text("Copythelines"));
    CHECK(std::string(clipboard.text()) == d.session.opening()->python);
    CHECK(d.sees("Copied."));
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    CHECK_FALSE(d.session.opening());
}

TEST_CASE("the menu lists the models that were opened before") {
    Driver d("pre-ln-layer");
    d.state.settings.recent = {state_dict_folder("heads-gpt") + "/model.safetensors", "/nowhere"};
    REQUIRE(d.click_text("pre-ln-layer"));
    CHECK(d.sees("Recentlyopened"));
    REQUIRE(d.click_text("/nowhere"));
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->name == "/nowhere");
    CHECK(d.sees("nosuchmodel"));
}
