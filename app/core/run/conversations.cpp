#include "app/core/run/conversations.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/chat/laid_out.h"
#include "engine/files/gguf.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <ostream>
#include <utility>

namespace decoderscope::core {

namespace {

namespace fs = std::filesystem;

// The names of the templates that a checkpoint brings, where Hugging Face puts them, the default first. What they say
// is read by Python alone.
std::vector<std::string> own_templates(const std::string& path) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (std::ranges::find(names, name) == names.end())
            names.insert(name == "default" ? names.begin() : names.end(), name);
    };
    if (path.empty()) return {};
    if (path.ends_with(".gguf")) {
        const std::string key = "tokenizer.chat_template";
        const GgufFile file(path);
        for (const auto& [stored, value] : file.metadata().items())
            if (value.is_string() && (stored == key || stored.starts_with(key + ".")))
                add(stored == key ? "default" : stored.substr(key.size() + 1));
        return names;
    }
    const fs::path folder = fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
    if (is_there(folder / "chat_template.jinja")) add("default");
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder / "additional_chat_templates", failed))
        if (entry.path().extension() == ".jinja") add(entry.path().stem().string());
    for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
        const fs::path file = folder / name;
        if (!is_there(file)) continue;
        const Json json = naming(file.string(), [&] { return parse_json(text_of_file(file), message("an object")); });
        const auto stored = json.is_object() ? json.find("chat_template") : json.end();
        if (stored == json.end() || stored->is_null()) continue;
        if (!stored->is_array()) add("default");
        for (const Json& one : stored->is_array() ? *stored : Json::array())
            add(one.is_object() && one.contains("name") && one["name"].is_string() ? one["name"].get<std::string>()
                                                                                   : "default");
    }
    return names;
}

// A folder that is removed with all that is in it.
class WorkFolder {
public:
    WorkFolder() {
        static std::atomic<int> count = 0;
        std::error_code failed;
        path_ = fs::temp_directory_path(failed) /
                ("decoderscope-chat-" + std::to_string(platform::process_number()) + "-" + std::to_string(++count));
        if (!fs::create_directory(path_, failed))
            throw Error("{folder}: cannot be created: {reason}",
                        {{"folder", path_.string()}, {"reason", failed.message()}});
        fs::permissions(path_, fs::perms::owner_all, failed);
    }
    ~WorkFolder() {
        std::error_code failed;
        fs::remove_all(path_, failed);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::vector<KnownTemplate> templates_for(const load::Model& model) {
    std::vector<KnownTemplate> all;
    for (const std::string& name : own_templates(model.path)) all.push_back({name, true});
    for (const std::string& name : chat::formats())
        if (std::ranges::find(all, name, &KnownTemplate::name) == all.end()) all.push_back({name, false});
    return all;
}

chat::Conversation with_template(chat::Conversation conversation, const load::Model& model, const std::string& name) {
    conversation.name = name;
    conversation.written.clear();
    const tokenizer::SpecialTokens ids = model.tokenizer.special();
    conversation.special.clear();
    if (ids.beginning) conversation.special.emplace("bos_token", model.tokenizer.piece(*ids.beginning));
    if (ids.end) conversation.special.emplace("eos_token", model.tokenizer.piece(*ids.end));
    return conversation;
}

chat::Conversation conversation_with(const load::Model& model, const std::string& name) {
    std::string known;
    for (const KnownTemplate& one : templates_for(model)) {
        if (name.empty() || one.name == name) return with_template({}, model, one.name);
        known += (known.empty() ? "" : ", ") + one.name;
    }
    throw Error("chat template \"{name}\": expected a file, or one of {known}", {{"name", name}, {"known", known}});
}

struct WritingByPython::State {
    explicit State(chat::Conversation given) : conversation(std::move(given)) {}

    chat::Conversation conversation;
    WorkFolder folder;
    std::unique_ptr<platform::Program> python;
};

WritingByPython::~WritingByPython() = default;
WritingByPython::WritingByPython(WritingByPython&&) noexcept = default;
WritingByPython& WritingByPython::operator=(WritingByPython&&) noexcept = default;

WritingByPython::WritingByPython(chat::Conversation conversation, const load::Model& model)
    : state_(std::make_unique<State>(std::move(conversation))) {
    const chat::Conversation& asked = state_->conversation;
    const std::string messages = state_->folder.file("messages.json");
    write_whole(messages, [&](std::ostream& out) { out << asked.messages; });
    std::vector<std::string> words = {"python3", "-m", "decoderscope", "chat", model.path.empty() ? "." : model.path};
    words.insert(words.end(), {messages, "--template", asked.name, "--text-only"});
    words.insert(words.end(), {"--out", state_->folder.file("laid.json")});
    if (!asked.variables.empty()) words.insert(words.end(), {"--variables", asked.variables});
    if (!asked.date.empty()) words.insert(words.end(), {"--date", asked.date});
    if (asked.generation_prompt) words.emplace_back("--generation-prompt");
    state_->python = platform::Program::started(words);
}

std::optional<chat::Conversation> WritingByPython::wait() {
    const std::optional<platform::Program::Ended> ended =
        state_->python ? state_->python->wait() : platform::Program::Ended{-1, {}};
    if (!ended) return std::nullopt;
    chat::Conversation made = state_->conversation;
    if (ended->status == 0) {
        const chat::Conversation read = chat::conversation_in(text_of_file(state_->folder.file("laid.json")), {});
        made.written = read.written;
        if (!read.date.empty()) made.date = read.date;
        return made;
    }
    const std::string said = last_line(ended->errors);
    constexpr std::string_view kSaid = "decoderscope chat: ";  // not a message: how Python's errors begin
    if (said.starts_with(kSaid)) throw Error(Sentence::verbatim(said.substr(kSaid.size())));
    throw Error(
        "The chat template {name} is in Jinja, which Python runs, and the package decoderscope isn't there. With it, "
        "`python3 -m decoderscope chat FOLDER MESSAGES --template {name} --out FILE` lays messages out, and FILE is "
        "read "
        "here as messages",
        {{"name", made.name}});
}

std::string json_of_messages(const std::vector<TypedMessage>& messages) {
    OrderedJson list = OrderedJson::array();
    for (const TypedMessage& one : messages) list.push_back({{"role", one.role}, {"content", one.text}});
    return list.dump();
}

std::optional<std::vector<TypedMessage>> typed_messages(const std::string& json) {
    try {
        const std::vector<OrderedJson> rows = chat::read_messages(json);
        if (rows.size() != 1) return std::nullopt;
        std::vector<TypedMessage> messages;
        for (const OrderedJson& one : rows.front()) {
            if (one.size() != 2 || !one.contains("content") || !one["content"].is_string()) return std::nullopt;
            messages.push_back({one["role"].get<std::string>(), one["content"].get<std::string>()});
        }
        return messages;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace decoderscope::core
