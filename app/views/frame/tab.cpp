#include "app/views/frame/tab.h"

#include "app/core/run/labels.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope::views {

const Tab* find_tab(std::string_view id) {
    const std::span<const Tab> all = tabs();
    const auto found = std::ranges::find_if(all, [&](const Tab& tab) {
        return tab.id == id || std::ranges::find(tab.pages, id, &TabPage::id) != tab.pages.end();
    });
    return found == all.end() ? nullptr : &*found;
}

void open_page(ViewState& state) {
    const Tab* tab = find_tab(state.tab);
    if (tab == nullptr || tab->id == state.tab) return;
    std::ranges::find(tab->pages, state.tab, &TabPage::id)->open(state);
    state.tab = tab->id;
}

std::vector<TabPage> ways_in() {
    std::vector<TabPage> all;
    for (const Tab& tab : tabs()) {
        all.push_back({tab.id, tab.title, tab.question, tab.key, tab.term, nullptr, tab.words});
        all.insert(all.end(), tab.pages.begin(), tab.pages.end());
    }
    return all;
}

bool is_about(const Tab& tab, const core::Session& session) {
    return tab.about_this == nullptr || tab.about_this(session);
}

bool has_something(const Tab& tab, const core::Session& session) {
    return (!tab.computes || session.shown().scenario.computes()) && is_about(tab, session);
}

void save_option(Json& json, const std::pair<std::string, std::string>& option) {
    if (!option.first.empty()) json["set"] = {{option.first, option.second}};
}

std::pair<std::string, std::string> restored_option(JsonObject& json) {
    const Json* set = json.find("set");
    if (set == nullptr) return {};
    const bool one = set->is_object() && set->size() == 1 && set->begin().value().is_primitive();
    if (!one) json.fail("set", message("expected one configuration key"));
    const Json& value = set->begin().value();
    return {set->begin().key(), value.is_string() ? value.get<std::string>() : value.dump()};
}

Sentence tab_label(Phrase title, Phrase question) {
    return message("{tab}: {question}", {{"tab", Sentence(title)}, {"question", Sentence(question)}});
}

namespace {

constexpr auto kKeyTexts = std::to_array<std::pair<Key, Phrase>>({{Key::left, Phrase("←")},
                                                                  {Key::right, Phrase("→")},
                                                                  {Key::up, Phrase("↑")},
                                                                  {Key::down, Phrase("↓")},
                                                                  {Key::home, message_c("key", "Home")},
                                                                  {Key::end, message_c("key", "End")},
                                                                  {Key::page_up, message_c("key", "PageUp")},
                                                                  {Key::page_down, message_c("key", "PageDown")},
                                                                  {Key::space, message_c("key", "Space")},
                                                                  {Key::enter, message_c("key", "Enter")},
                                                                  {Key::escape, message_c("key", "Esc")},
                                                                  {Key::backspace, message_c("key", "Backspace")},
                                                                  {Key::plus, Phrase("+")},
                                                                  {Key::equal, Phrase("=")},
                                                                  {Key::minus, Phrase("−")},
                                                                  {Key::comma, Phrase(",")},
                                                                  {Key::period, Phrase(".")},
                                                                  {Key::left_bracket, Phrase("[")},
                                                                  {Key::right_bracket, Phrase("]")}});

}  // namespace

std::string key_text(Key key) {
    if (key >= Key::a && key <= Key::z)
        return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a))};
    if (key >= Key::digit_0 && key <= Key::digit_9)
        return {static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::digit_0))};
    if (key >= Key::f1 && key <= Key::f12)
        return "F" + std::to_string(static_cast<int>(key) - static_cast<int>(Key::f1) + 1);
    for (const auto& [named, text] : kKeyTexts)
        if (named == key) return tr(text);
    return {};
}

std::string chord_text(const Action& action) {
    if (action.key == Key::none) return {};
    return std::string(action.mods.ctrl ? tr(message_c("key", "Ctrl+")) : "") +
           (action.mods.alt ? tr(message_c("key", "Alt+")) : "") +
           (action.mods.shift ? tr(message_c("key", "Shift+")) : "") + key_text(action.key);
}

core::Exhibit ExportChoice::in_english() const {
    const InEnglish english;
    return exhibit();
}

void ExportScene::add(std::string label, std::string file_name, std::function<core::Exhibit()> exhibit,
                      std::string command) {
    choices.push_back({std::move(label), std::move(file_name), false, std::move(exhibit), std::move(command)});
}

void ExportScene::add_if_any(std::string label, std::string file_name,
                             const std::function<std::optional<core::Exhibit>()>& make) {
    const InEnglish english;
    if (std::optional<core::Exhibit> exhibit = make())
        add(std::move(label), std::move(file_name), [exhibit] { return *exhibit; });
}

namespace {

bool has_heads(const Step& step) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis::head && step.axes[i].size > 1) return true;
    return false;
}

std::string in_all_layers(const Step& step) {
    return step.block.substr(0, step.block.rfind('.')) + step.name.substr(step.block.size());
}

// The options that choose a step at a place. On the command line a head is one of the tensor's own.
std::string command_of(const ExportScene& scene, const Step& step, bool one_head) {
    std::string command = "--tensor " + step.name;
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i) {
        const Axis& along = step.axes[i];
        if (along.name == axis::batch && scene.place.batch > 0)
            command += " --batch " + std::to_string(scene.place.batch);
        if (along.name == axis::head && one_head)
            command += " --head " + std::to_string(scene.place.head * along.size / scene.shown.scenario.query_heads());
    }
    return command;
}

void add_step(ExportScene& scene) {
    const Step& step = scene.step;
    if (scene.shown.run->value(step.id).empty()) return;
    const std::string command = command_of(scene, step, true);
    // Of one head: "blocks.0.attn.pattern.head3".
    const std::size_t head = command.find("--head ");
    scene.add(
        tr("This step"), step.name + (head == std::string::npos ? "" : ".head" + command.substr(head + 7)),
        [shown = scene.shown, &step, place = scene.place] { return core::step_exhibit(shown, step, place); }, command);
    if (!step.operands.empty())
        scene.add(
            tr("This step with its operands"), step.name + ".operands",
            [shown = scene.shown, &step, place = scene.place] { return core::step_exhibit(shown, step, place, true); },
            command + " --with-operands");
}

}  // namespace

void add_gathered(ExportScene& scene, const Step& step, GatheredFirst first) {
    const auto gathered = [shown = scene.shown, &step, place = scene.place](core::Gathering gathering) {
        return [shown, &step, place, gathering] { return core::gathered_exhibit(shown, step, place, gathering); };
    };
    const Index block = core::block_number(step);
    const bool heads = has_heads(step),
               twins = block >= 0 && scene.shown.run->plan().twin_in(step, block == 0 ? 1 : 0) != nullptr;
    const std::string command = command_of(scene, step, false);
    std::optional<ExportChoice> all;
    if (heads && twins)
        all = {tr("All heads of all layers"), in_all_layers(step) + ".all", false,
               gathered({.all_heads = true, .all_layers = true}), command + " --all-heads --all-layers"};
    if (all && first == GatheredFirst::all_layers) scene.choices.push_back(*std::exchange(all, std::nullopt));
    if (heads)
        scene.add(tr("All heads of this layer"), step.name + ".heads", gathered({.all_heads = true}),
                  command + " --all-heads");
    if (twins)
        scene.add(heads ? tr("This head in all layers") : tr("All layers"), in_all_layers(step) + ".layers",
                  gathered({.all_layers = true}), command_of(scene, step, true) + " --all-layers");
    if (all) scene.choices.push_back(*all);
    if (heads)
        scene.choices.push_back({tr("Each head of all layers, one file per head"), in_all_layers(step) + ".files", true,
                                 gathered({.all_heads = true, .all_layers = twins}),
                                 command + " --each-head" + (twins ? " --all-layers" : "")});
}

std::vector<ExportChoice> export_choices(const core::Session& session, const ViewState& state) {
    const core::Snapshot& shown = session.shown();
    ExportScene scene{session,
                      state,
                      {shown.scenario, shown.run, session.notes(), [unedited = shown.unedited] { return unedited; }},
                      session.step(),
                      session.cursor().place};
    if (const Tab* tab = find_tab(state.tab);
        tab != nullptr && tab->add_exports != nullptr && has_something(*tab, scene.session))
        tab->add_exports(scene);
    add_step(scene);
    if (scene.gathers_step && !scene.shown.run->value(scene.step.id).empty()) add_gathered(scene, scene.step);
    const std::string model = core::file_name_of_model(shown.scenario);
    for (ExportChoice& choice : scene.choices) choice.file_name = model + "_" + choice.file_name;
    return std::move(scene.choices);
}

}  // namespace decoderscope::views
