// What nobody expects to be thrown, thrown while a part of the window is drawn: the part says so, and everything else
// goes on.
#include "app/views/frame/guarded.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

using namespace decoderscope::testing;

namespace {

enum class Surprise { none, logic_error, length_error, json, no_exception };
constexpr Surprise kSurprises[] = {Surprise::logic_error, Surprise::length_error, Surprise::json,
                                   Surprise::no_exception};

Surprise planted = Surprise::none;

std::size_t form_of(std::int64_t count) {
    switch (planted) {
        case Surprise::logic_error:
            throw std::logic_error("planted");
        case Surprise::length_error:
            throw std::length_error("planted");
        case Surprise::json:
            return nlohmann::json("text").get<std::size_t>();
        case Surprise::no_exception:
            throw 7;  // NOLINT: of no type that is an exception
        case Surprise::none:
            break;
    }
    return count == 1 ? 0 : 1;
}

// While it lives, showing a count of something throws: the language's choice of a plural does. By the English text.
class Planted {
public:
    explicit Planted(std::string_view english) {
        static std::vector<std::unique_ptr<Catalog>> catalogs;  // they must live as long as the program
        catalogs.push_back(std::make_unique<Catalog>(form_of));
        catalogs.back()->add("", english, {"{count} whole", "{count} wholes"});
        speak(*catalogs.back());
    }
    ~Planted() {
        planted = Surprise::none;
        speak_english();
    }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;
};

constexpr const char* kSaid = "partofthewindowcan";

void check_part_fails_alone(Driver& d, Surprise surprise, std::initializer_list<const char*> others) {
    planted = surprise;
    d.settle();
    CHECK(d.sees(kSaid));
    CHECK(d.sees("Tryagain"));
    REQUIRE(d.session.message());
    CHECK(d.session.message()->failed);
    for (const char* other : others) {
        CAPTURE(other);
        CHECK(d.sees(other));
    }
    // Pressed while it still throws, it says so again; then it goes on as before.
    REQUIRE(d.click_text("Tryagain"));
    CHECK(d.sees("Tryagain"));
    planted = Surprise::none;
    REQUIRE(d.click_text("Tryagain"));
    CHECK_FALSE(d.sees("Tryagain"));
}

}  // namespace

TEST_CASE("a tab that throws says so in its place, and the window goes on") {
    const Planted text("No NaN in the {count} step");
    for (const Surprise surprise : kSurprises) {
        CAPTURE(static_cast<int>(surprise));
        Driver d;
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        d.state.tab = "masks";
        d.settle();
        REQUIRE(d.find_on_stage("whole"));
        check_part_fails_alone(d, surprise, {"Heads", "blocks.0"});
        CHECK(d.find_on_stage("whole"));
        CHECK(d.session.scenario().edits.size() == 1);
    }
}

TEST_CASE("another tab is drawn although one can't be, and keys and edits still work") {
    const Planted text("No NaN in the {count} step");
    Driver d;
    d.state.tab = "masks";
    planted = Surprise::logic_error;
    d.settle();
    REQUIRE(d.sees("Tryagain"));
    const std::string before = d.session.cursor().step;
    d.press(Key::right);
    CHECK(d.session.cursor().step != before);
    d.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    CHECK(d.session.scenario().edits.size() == 1);
    REQUIRE(d.click_label("Step"));
    CHECK(d.state.tab == "step");
    CHECK_FALSE(d.sees("Tryagain"));
    CHECK_FALSE(d.pictures().empty());
}

TEST_CASE("a panel that throws says so in its place, and the stage is drawn") {
    const Planted text("{count} note");
    for (const Surprise surprise : kSurprises) {
        CAPTURE(static_cast<int>(surprise));
        Driver d;
        d.apply(command::PinNote{Note{.step = "embed", .cell = {}, .text = "here"}});
        REQUIRE(d.sees("1whole"));
        const std::size_t pictures = d.pictures().size();
        REQUIRE(pictures > 0);
        planted = surprise;
        d.settle();
        CHECK(d.pictures().size() == pictures);
        check_part_fails_alone(d, surprise, {"Heads", "blocks.0"});
        CHECK(d.sees("1whole"));
        CHECK(d.session.notes().size() == 1);
    }
}

TEST_CASE("a dialog that throws says so, can be closed, and what it was about is still there") {
    const Planted text("{file}, {count} edit, has unsaved changes.");
    for (const Surprise surprise : kSurprises) {
        CAPTURE(static_cast<int>(surprise));
        Driver d;
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        d.state.show(Dialog::unsaved);
        d.settle();
        REQUIRE(d.sees("1whole"));
        check_part_fails_alone(d, surprise, {"Heads", "blocks.0"});
        CHECK(d.sees("1whole"));
        planted = surprise;
        d.settle();
        REQUIRE(d.sees("Tryagain"));
        d.press(Key::escape);
        CHECK(d.state.dialog == Dialog::none);
        CHECK_FALSE(d.sees("Tryagain"));
        CHECK(d.session.scenario().edits.size() == 1);
        planted = Surprise::none;
    }
}

TEST_CASE("whatever was begun and pushed is ended and popped if a draw throws") {
    Driver d;
    ImGui::NewFrame();
    ImGui::Begin("around");
    const float spacing = ImGui::GetStyle().ItemSpacing.x;
    const ImVec4 color = ImGui::GetStyle().Colors[ImGuiCol_Text];
    const ImFont* font = ImGui::GetFont();
    const ImGuiID id = ImGui::GetID("here");
    const float x = ImGui::GetCursorScreenPos().x, width = ImGui::CalcItemWidth();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec4 clip = list._ClipRectStack.back();
    Commands commands;
    CHECK_FALSE(guarded(commands, [&](Commands& asked) {
        asked.push_back(command::GoLast{});
        ImGui::PushID("outer");
        ImGui::BeginGroup();
        ImGui::Indent();
        ImGui::PushItemWidth(17.0F);
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(77, 7));
        ImGui::PushClipRect({1, 1}, {2, 2}, true);
        list.ChannelsSplit(2);
        list.ChannelsSetCurrent(1);
        ImGui::BeginChild("child");
        ImGui::BeginDisabled();
        compat::push_font(d.fonts().heading);
        ImGui::PushStyleColor(ImGuiCol_Text, 0);
        ImGui::BeginGroup();
        if (compat::begin_tooltip()) ImGui::PushID(3);
        ImGui::SetNextWindowPos({5, 5});
        throw std::logic_error("planted");
    }));
    REQUIRE(commands.size() == 1);
    CHECK(as<command::Tell>(commands.front()) != nullptr);
    CHECK(ImGui::GetStyle().ItemSpacing.x == spacing);
    CHECK(ImGui::GetStyle().Colors[ImGuiCol_Text].w == color.w);
    CHECK(ImGui::GetFont() == font);
    CHECK(ImGui::GetID("here") == id);
    CHECK(ImGui::GetCursorScreenPos().x == x);
    CHECK(ImGui::CalcItemWidth() == width);
    CHECK(&list == ImGui::GetWindowDrawList());
    CHECK(list._ClipRectStack.back().z == clip.z);
    CHECK(list._Splitter._Count <= 1);
    ImGui::End();
    ImGui::Begin("next");
    CHECK(ImGui::GetWindowPos().x != 5.0F);
    ImGui::End();
    ImGui::Render();
}
