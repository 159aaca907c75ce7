// What is chosen in a tab outlives what it was chosen among: the model, the input, the session. Law: whatever is
// chosen, every such change leaves a window that can be drawn.
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"

#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::views::dialogs;

namespace {

// What can be pressed on the stage.
std::vector<DocumentItem> options_of(Driver& d) {
    d.state.document.collect();
    d.live();
    std::vector<DocumentItem> options;
    for (const DocumentItem& item : d.state.document.items())
        if (item.part == "stage" && item.kind == DocumentItem::Kind::button && !item.disabled) options.push_back(item);
    return options;
}

// The changes of what is open, one after the other; each of them undone.
class Changes {
public:
    Changes() {
        for (const BundledModel& model : bundled_models()) {
            Driver d(model.name);
            SessionFile file = session_file_of(d.session.work(saved_view(d.state)));
            links_[model.name] = link_of(file);
            paths_[model.name] = folder_.file(model.name + ".dscope");
            write_session_file(paths_[model.name], file);
        }
    }
    [[nodiscard]] static constexpr std::size_t kinds() { return 3; }
    void change(Driver& d, const std::string& model, std::size_t kind) const {
        if (kind == 0) d.session.apply(command::OpenModel{model, {}});
        if (kind == 1) d.session.apply(command::OpenSession{paths_.at(model)});
        if (kind == 2) d.session.apply(command::OpenLink{links_.at(model)});
        d.live();
        CHECK(d.session.scenario().about().name == model);
    }

private:
    TemporaryFolder folder_;
    std::map<std::string, std::string> paths_, links_;
};

void check_drawn(Driver& d) {
    for (const auto& one : d.commands)
        if (const auto* told = as<command::Tell>(one))
            CHECK(told->sentence.english().find("can't be drawn") == std::string::npos);
    d.forget();
}

// Chooses an option of a tab in one model, goes to another and back. What was chosen before stays chosen, too.
void check_option(Driver& d, const Changes& changes, const std::string& tab, ImGuiID option, const std::string& model,
                  std::size_t kind) {
    d.state.tab = tab;
    d.state.document.press(option);
    d.live();
    changes.change(d, model, kind);
    if (d.state.tab != tab) {  // a session opens its own
        d.state.tab = tab;
        d.live();
    }
    d.session.apply(command::Undo{});
    d.live();
    check_drawn(d);
}

// Each option of each tab of one model, with every `every`th of the changes, beginning with another one each time.
std::size_t check_model(const std::string& name, const Changes& changes, std::size_t every, std::size_t number = 0) {
    const auto& models = bundled_models();
    for (const Tab& tab : tabs()) {
        Driver d(name);
        d.state.tab = tab.id;
        for (const DocumentItem& option : options_of(d)) {
            INFO(name << ", " << tab.id << ", " << option.text);
            for (std::size_t i = number++ % every; i < models.size() * Changes::kinds(); i += every)
                check_option(d, changes, std::string(tab.id), option.id, models[i % models.size()].name,
                             i / models.size());
        }
    }
    return number;
}

}  // namespace

TEST_CASE("an attention that is chosen outlives the model that has it") {
    for (const char* model : {"reverse", "pre-ln-encdec", "dates"})
        for (const char* chosen : {"Cross", "Encoder"})
            for (const char* other : {"verses", "simple-decoder", "induction"}) {
                INFO(model << ", " << chosen << ", " << other);
                Driver d(model);
                d.press(Key::m);
                // The middle one has no encoder, and offers none.
                REQUIRE(d.click_label(chosen) ==
                        (std::string_view(chosen) == "Cross" || std::string_view(model) != "pre-ln-encdec"));
                d.session.apply(command::OpenModel{other, {}});
                d.live();
                d.session.apply(command::Undo{});
                d.live();
                check_drawn(d);
            }
}

TEST_CASE("what Diff compares with is chosen in the frame in which the run is new") {
    for (const char* chosen : {"Pinned", "File", "Configuration"}) {
        INFO(chosen);
        Driver d("causal-lm");
        d.state.tab = "diff";
        d.settle();
        REQUIRE(d.click_text("B:"));
        const auto label = find_text(d.seen(), chosen);
        REQUIRE(label);
        d.hands.push(MouseMove{label->middle().x, label->middle().y});
        d.hands.push(MouseButton{Button::left, true, {}});
        d.settle();
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
        d.session.finish();
        d.hands.push(MouseButton{Button::left, false, {}});
        d.settle();
        check_drawn(d);
    }
}

TEST_CASE("each option of each tab outlives a change of model, a session, a link, and undo") {
    const Changes changes;
    std::size_t number = 0;
    for (const char* model : {"reverse", "experts", "simple-decoder"})
        number = check_model(model, changes, kSanitized ? 109 : 36, number);
}

// Of every model, for all other models, by each of the ways: hours. `./test.sh all` runs it for some minutes' worth.
TEST_CASE("each option of each tab of every model outlives every change", "[.thorough]") {
    const Changes changes;
    std::size_t number = 0;
    for (const BundledModel& model : bundled_models()) number = check_model(model.name, changes, 73, number);
}
