// The Messages page: messages are typed, the run is on their text, and its tokens say whose they are.
#include "app/views/tabs/generate/tab.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope::testing;
using namespace decoderscope::views::generate;

namespace {

struct MessagesDriver : Driver {
    explicit MessagesDriver(float scale = 1.0F, ImVec2 size = {1280, 800})
        : Driver(load::Opened(load::load_model("verses")), scale, size) {
        press(Key::g);
        click_label("Messages");
    }
    [[nodiscard]] const Scenario& scenario() const { return session.scenario(); }
};

}  // namespace

TEST_CASE("messages become the run's text, with labels, losses and what is wrong with them") {
    MessagesDriver d;
    CHECK(d.sees("Therunisnotonthesemessagesyet."));
    d.click_label("Runonthesemessages");
    REQUIRE(d.scenario().conversation);
    CHECK(d.scenario().tokenizer().decode(std::vector<Index>(d.scenario().inputs.tokens.values().begin(),
                                                             d.scenario().inputs.tokens.values().end())) ==
          "user: Hello assistant: Hello");
    CHECK(d.sees("framed:trained,withitsloss"));
    CHECK(d.sees("Themeanlossofthetrainedtokensis"));
    CHECK(d.sees("<eos>,isnevertrained"));
    CHECK_FALSE(d.sees("Therunisnot"));

    d.click_label("answers");
    d.click_label("everything");
    CHECK(d.scenario().conversation->trained == chat::Trained::everything);
    CHECK(d.scenario().inputs.targets.at(Cell{0, 0}) == d.scenario().inputs.tokens.at(Cell{0, 1}));
    d.click_label("addamessage");
    CHECK(typed_messages(d.scenario().conversation->messages)->size() == 3);
    d.press(Key::z, with_ctrl);
    CHECK(typed_messages(d.scenario().conversation->messages)->size() == 2);
    CHECK(d.state.part<GenerateTabState>().messages.typed->size() == 2);
}

TEST_CASE("a text that replaces the messages is not shown as theirs") {
    MessagesDriver d;
    d.click_label("Runonthesemessages");
    d.apply(command::AppendToken{0, 20});
    CHECK(d.sees("Thetexthasbeen"));
    CHECK_FALSE(d.sees("framed:trained"));
    d.click_label("Runonthesemessages");
    CHECK(d.sees("framed:trained"));
}

TEST_CASE("what can't be laid out is said on the page, and the run stays") {
    MessagesDriver d;
    d.click_label("Runonthesemessages");
    const Index length = d.scenario().inputs.pos();
    command::TypeInput typed;
    typed.typed.messages = *d.scenario().conversation;
    typed.typed.messages->name = "default";
    d.apply(typed);
    CHECK(d.sees("ThechattemplatedefaultisinJinja,whichPythonruns"));
    CHECK(d.scenario().inputs.pos() == length);
}

TEST_CASE("what Python laid out is dropped on the page, shown, and trained otherwise without Python") {
    MessagesDriver d;
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/laid.json";
    write_bytes(path, R"({"template": "default", "train_on": "answers", "conversations": [{
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
        "text": "Hi! Ho!", "roles": ["user", "assistant"], "spans": [[0, 2, 0], [4, 6, 1]],
        "around": [[2, 4, 0], [6, 7, 1]], "findings": []}]})");
    const auto taken = find_tab("generate")->take_file(d.session, d.state, path);
    REQUIRE(taken);
    d.apply(*taken);
    REQUIRE(d.scenario().conversation);
    CHECK(d.scenario().inputs.pos() == 7);
    CHECK(d.scenario().inputs.targets.at(Cell{0, 3}) == d.scenario().inputs.tokens.at(Cell{0, 4}));
    CHECK(d.sees("framed:trained,withitsloss"));
    CHECK(d.state.part<GenerateTabState>().messages.typed->size() == 2);
    d.click_label("answers");
    d.click_label("everything");
    CHECK(d.scenario().inputs.pos() == 7);
    CHECK(d.scenario().inputs.targets.at(Cell{0, 0}) == d.scenario().inputs.tokens.at(Cell{0, 1}));
    CHECK_FALSE(find_tab("generate")->take_file(d.session, d.state, folder.path() + "/model.safetensors"));
    CHECK_THROWS(find_tab("generate")->take_file(d.session, d.state, folder.path() + "/none.json"));
}

TEST_CASE("the page fits at every size") {
    for (const auto& [scale, size] : kScreens) {
        INFO(scale << " " << size.x);
        MessagesDriver d(scale, size);
        d.click_label("Runonthesemessages");
        check_layout(d, size);
    }
}
