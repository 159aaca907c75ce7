// Messages as an input: the run, its loss, undo, files and links.
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "app/core/generate/shown_conversation.h"
#include "app/core/run/conversations.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_gguf.h"
#include "tests/engine/temporary_folder.h"

#include <cstdlib>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

Scenario verses() { return scenario_of(load::load_model("verses")); }

chat::Conversation talk(const Scenario& scenario, const std::vector<TypedMessage>& messages) {
    chat::Conversation made = conversation_with(*scenario.model(), "names");
    made.messages = json_of_messages(messages);
    return made;
}

Scenario with_messages(Scenario scenario, const chat::Conversation& conversation) {
    scenario.inputs = typed_inputs(*scenario.model(), scenario.inputs, {.messages = conversation});
    scenario.conversation = conversation;
    return scenario;
}

const std::vector<TypedMessage> kTalk = {{"user", "Hello there"}, {"assistant", "Hello, friend."}};

}  // namespace

TEST_CASE("the mean loss of the trained tokens is the run's own loss") {
    Scenario scenario = with_messages(verses(), talk(verses(), kTalk));
    scenario.gradient_target = "loss";
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const ShownConversation shown = conversation_of(scenario, *run);
    REQUIRE(shown.is_run);
    REQUIRE(shown.loss);
    CHECK(*shown.loss == Approx(run->value("loss").at(Cell{0})).margin(1e-5));
    const Tensor& each = run->value("loss_per_token");
    for (std::size_t i = 1; i < shown.rows[0].size(); ++i) {
        const ConversationToken& token = shown.rows[0][i];
        CHECK(token.trained == token.loss.has_value());
        const float engine = each.at(Cell{0, static_cast<Index>(i) - 1});
        CHECK(engine == Approx(token.loss.value_or(0.0)).margin(1e-5));
    }
}

TEST_CASE("if everything is trained, the first token has a label, too, as PyTorch's labels have, but no loss") {
    chat::Conversation everything = talk(verses(), kTalk);
    everything.trained = chat::Trained::everything;
    const Scenario scenario = with_messages(verses(), everything);
    const ShownConversation shown = conversation_of(scenario, *execute(plan_of(scenario)));
    CHECK(shown.rows[0][0].trained);
    CHECK_FALSE(shown.rows[0][0].loss);
    CHECK(shown.rows[0][1].loss);
}

TEST_CASE("messages are typed like any other input: undone in one step, and left by a text") {
    Session session(load::load_model("verses"));
    session.finish();
    const Inputs before = session.scenario().inputs;
    const auto type = [&](const std::string& text, bool continues) {
        command::TypeInput typed{.continues = continues};
        typed.typed.messages = talk(session.scenario(), {{"user", "Hi"}, {"assistant", text}});
        apply(session, typed);
    };
    type("N", false);
    type("No", true);
    REQUIRE(session.scenario().conversation);
    CHECK(session.input_error().empty());
    const Index length = session.scenario().inputs.pos();
    type("No ∑", true);
    CHECK(contains(session.input_error().english(), "is not in the vocabulary"));
    CHECK(session.scenario().inputs.pos() == length);
    apply(session, command::Undo{});
    CHECK_FALSE(session.scenario().conversation);
    CHECK(session.scenario().inputs.tokens.shares_values_with(before.tokens));
    apply(session, command::Redo{});
    REQUIRE(session.scenario().conversation);
    apply(session, command::TypeInput{.typed = {.target = Typed{.text = "Hello"}}});
    CHECK_FALSE(session.scenario().conversation);
    CHECK(session.scenario().inputs.targets.empty());
}

TEST_CASE("a generated token leaves the messages behind, and that is said") {
    Session session(load::load_model("verses"));
    session.finish();
    command::TypeInput typed;
    typed.typed.messages = talk(session.scenario(), kTalk);
    apply(session, typed);
    const auto shown = [&] { return conversation_of(session.scenario(), *session.shown().run); };
    CHECK(shown().is_run);
    apply(session, command::AppendToken{0, 20});
    CHECK_FALSE(shown().is_run);
    CHECK_FALSE(shown().loss);
}

TEST_CASE("a session and a link keep the messages, the labels and the template") {
    files::SavedSession saved;
    chat::Conversation conversation = talk(verses(), kTalk);
    conversation.trained = chat::Trained::last_answer;
    conversation.variables = R"({"x": 1})";
    conversation.max_length = 40;
    conversation.date = "2026-11-27";
    saved.scenario = with_messages(verses(), conversation);
    const TemporaryFolder folder;
    const files::SessionFile file = files::session_file_of(saved);
    write_bytes(folder.path() + "/talk.dscope", files::session_text(file, folder.path()));
    for (const files::SavedSession& opened :
         {files::open_session(folder.path() + "/talk.dscope"), files::open_link(files::link_of(file))}) {
        CHECK(opened.scenario.conversation == saved.scenario.conversation);
        const Tensor &now = opened.scenario.inputs.targets, &then = saved.scenario.inputs.targets;
        REQUIRE(now.axes() == then.axes());
        for (Index i = 0; i < now.size(); ++i) CHECK(now.data()[i] == then.data()[i]);
    }
}

TEST_CASE("a checkpoint's own templates are named where Hugging Face puts them, the default first") {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::string& text) {
        write_bytes(folder.path() + "/" + name, text);
    };
    load::Model model;
    model.path = folder.path();
    const auto own = [&] {
        std::string names;
        for (const KnownTemplate& one : templates_for(model))
            if (one.own) names += one.name + " ";
        return names;
    };
    CHECK(own().empty());
    CHECK(templates_for(model).front().name == "names");
    write("tokenizer_config.json",
          R"({"chat_template": [{"name": "tool_use", "template": "B"}, {"name": "default", "template": "A"}]})");
    CHECK(own() == "default tool_use ");
    write("chat_template.jinja", "C");
    CHECK(own() == "default tool_use ");
    write("tokenizer_config.json", R"({"chat_template": null})");
    CHECK(own() == "default ");
    write("tokenizer_config.json", "{");
    CHECK(contains(error_of([&] { (void)own(); }), "tokenizer_config.json"));

    GgufBytes file;
    file.head(0, 2);
    file.text("tokenizer.chat_template.tool_use").number(std::uint32_t{8}).text("B");
    file.text("tokenizer.chat_template").number(std::uint32_t{8}).text("A");
    write_bytes(folder.path() + "/model.gguf", file.bytes());
    model.path += "/model.gguf";
    CHECK(own() == "default tool_use ");
}

TEST_CASE("a template in Jinja is Python's, and where there is none, the command is said") {
    const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
    REQUIRE(::setenv("PATH", "/nowhere", 1) == 0);
    chat::Conversation asked = talk(verses(), kTalk);
    asked.name = "default";
    WritingByPython writing(asked, *verses().model());
    const std::string said = error_of([&] {
        while (!writing.wait()) {
        }
    });
    ::setenv("PATH", path.c_str(), 1);
    CHECK(contains(said, "The chat template default is in Jinja"));
    CHECK(contains(said, "`python3 -m decoderscope chat FOLDER MESSAGES --template default --out FILE`"));
}

TEST_CASE("a session of version 0.2, whose template is Jinja, opens with its messages and its tokens") {
    const TemporaryFolder folder;
    files::SavedSession saved;
    saved.scenario = with_messages(verses(), talk(verses(), kTalk));
    OrderedJson json = OrderedJson::parse(files::session_text(files::session_file_of(saved), folder.path()));
    json["conversation"] = {
        {"messages", json_of_messages(kTalk)}, {"template", "{% for m in messages %}{{ m.content }}{% endfor %}"},
        {"train_on", "last-answer"},           {"name", "default"},
        {"special", {{"bos_token", "<s>"}}},   {"date", "2026-11-27"}};
    write_bytes(folder.path() + "/old.dscope", json.dump());
    const files::SavedSession opened = files::open_session(folder.path() + "/old.dscope");
    REQUIRE(opened.scenario.conversation);
    CHECK(typed_messages(opened.scenario.conversation->messages) == kTalk);
    CHECK(opened.scenario.conversation->trained == chat::Trained::last_answer);
    CHECK(opened.scenario.inputs.tokens.size() == saved.scenario.inputs.tokens.size());
    const ShownConversation shown = conversation_of(opened.scenario, *execute(plan_of(opened.scenario)));
    CHECK(contains(shown.wrong.english(), "The chat template default is in Jinja"));
}

TEST_CASE("only what has a role and a text alone can be typed") {
    CHECK(typed_messages(json_of_messages(kTalk)) == kTalk);
    CHECK_FALSE(typed_messages(R"([{"role": "user", "content": "a", "name": "b"}])"));
    CHECK_FALSE(typed_messages(R"([{"role": "user", "content": [{"type": "image"}]}])"));
    CHECK_FALSE(typed_messages(R"([[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]])"));
    CHECK_FALSE(typed_messages("nonsense"));
}
