#include "tests/views/driver.h"

#include "app/views/dialogs/dialogs.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/theme.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/imgui_atlas.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace decoderscope::testing {

using namespace decoderscope::testing;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::shell;
namespace {

// Read once for all drivers.
std::shared_ptr<FontFiles> installed_fonts() {
    static const auto files = std::make_shared<FontFiles>();
    return files;
}

// CPU time. What workers compute meanwhile doesn't hold a frame up.
double milliseconds_of_this_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

// A key's texture is the key itself; ImGui takes 0 for none.
ImTextureID NullTextures::upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                                 std::uint64_t version) {
    Picture& picture = pictures_[key];
    if (picture.uploads == 0 || picture.version != version || picture.width != width || picture.height != height) {
        picture = {width, height, version, {rgba.begin(), rgba.end()}, picture.uploads + 1};
    }
    return compat::texture_id(key + 1);
}

ImTextureID NullTextures::find(std::uint64_t key, std::uint64_t version) {
    const auto found = pictures_.find(key);
    return found != pictures_.end() && found->second.version == version ? compat::texture_id(key + 1) : ImTextureID{};
}

Driver::Driver(std::string_view model, float scale, ImVec2 size) : Driver(make_bundled_model(model), scale, size) {}

Driver::Driver(Opened opened, float scale, ImVec2 size)
    : Driver(std::make_unique<Session>(std::move(opened)), nullptr, scale, size) {}

Driver::Driver(const files::SavedSession& work, float scale, ImVec2 size)
    : Driver(std::make_unique<Session>(work), nullptr, scale, size) {}

Driver::Driver(Session& shared, float scale, ImVec2 size) : Driver(nullptr, &shared, scale, size) {}

Driver::Driver(std::unique_ptr<Session> own, Session* shared, float scale, ImVec2 size)
    : own_(std::move(own)),
      session(own_ ? *own_ : *shared),
      demand_(installed_fonts()),
      context_(ImGui::CreateContext()) {
    ImGui::SetCurrentContext(context_.get());
    // As after the first minute.
    state.settings.introduction_closed = true;
    state.desktop.reduced_motion = true;
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    use_demand(demand_);
    // As in the window: a list with more than 65536 corners is no problem.
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.DisplaySize = size;
    io.DeltaTime = 1.0F / 60.0F;
    compat::prepare_input(io);
    load(scale);
    apply_style(make_theme(state.is_dark()), scale);
    settle();
}

Driver::~Driver() = default;

void Driver::load(float scale) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    fonts_ = load_fonts(atlas, scale, demand_);
    compat::set_default_font(fonts_.text);
    bake_on_cpu(atlas);
}

bool Driver::frame() {
    ImGui::SetCurrentContext(context_.get());  // another driver may have been made since
    shown_.reset();
    if (demand_.grew()) load(fonts_.scale);
    const bool more = hands.feed(ImGui::GetIO());
    ImGui::NewFrame();
    if (const auto view = session.take_view()) apply(show_saved(state, *view));
    const Theme theme = make_theme(state.is_dark(), state.settings.sequential);
    if (styled_dark_ != state.is_dark()) apply_style(theme, fonts_.scale);
    styled_dark_ = state.is_dark();
    const double start = milliseconds_of_this_thread();
    const Commands asked = draw_workspace({fonts_, theme, textures}, session, state);
    ImGui::Render();
    frame_milliseconds_ = milliseconds_of_this_thread() - start;
    commands.insert(commands.end(), asked.begin(), asked.end());
    apply(asked);
    if (waits) session.finish();
    return more;
}

// What the session does. Requests have no window here.
void Driver::apply(const Commands& asked) {
    for (const auto& one : asked)
        if (const Command* command = std::get_if<Command>(&one); command != nullptr && (!may || may(*command)))
            session.apply(*command);
}

void Driver::settle() {
    while (frame()) {
    }
    frame();
    frame();
}

void Driver::settle_one() { static_cast<void>(frame()); }

void Driver::live(int frames, std::chrono::seconds at_most) {
    const bool waited = std::exchange(waits, false);
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (frames > 0 && std::chrono::steady_clock::now() < end) {
        session.update(std::chrono::milliseconds(1));
        const bool more = frame();
        if (!more && !session.stale() && !session.opening()) --frames;
    }
    waits = waited;
}

const Driver::Shown& Driver::shown() const {
    if (!shown_) {
        ImGui::SetCurrentContext(context_.get());
        const ImDrawData& drawn = *ImGui::GetDrawData();
        const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
        shown_ = Shown{drawn_text(drawn, atlas), drawn_pictures(drawn, atlas)};
    }
    return *shown_;
}

Area Driver::stage() const { return state.stage; }

std::optional<DrawnText> Driver::find_on_stage(std::string_view part) const {
    for (const DrawnText& piece : seen())
        if (piece.text.find(part) != std::string::npos && on_stage(piece)) return piece;
    return std::nullopt;
}

std::optional<ImVec2> Driver::find_on_strip(const std::string& step) const {
    const Ref found = session.shown().run->plan().find(step);
    const auto area = found == nullptr ? std::nullopt : strip::place_on_strip(state, found->id);
    if (!area) return std::nullopt;
    return ImVec2{(area->low.x + area->high.x) * 0.5F, (area->low.y + area->high.y) * 0.5F};
}

int Driver::click_on_strip(const std::string& step) {
    int clicks = 0;
    while (session.cursor().step != step) {
        INFO("on the strip: " << step);
        const std::optional<ImVec2> at = find_on_strip(step);
        REQUIRE(at);
        REQUIRE(++clicks < 20);
        click(*at);
    }
    return clicks;
}

ImVec2 Driver::token_in_field(Index position, bool source) {
    state.document.collect();
    settle_one();
    const std::string name = "position " + std::to_string(position);
    std::vector<ImVec2> found;  // the source's field comes first
    for (const DocumentItem& item : state.document.items())
        if (item.part == "toolbar" && item.text.ends_with(name))
            found.push_back({(item.area.low.x + item.area.high.x) * 0.5F, (item.area.low.y + item.area.high.y) * 0.5F});
    INFO("token " << position);
    REQUIRE_FALSE(found.empty());
    return source ? found.front() : found.back();
}

DrawnHeatmap Driver::heatmap(const std::string& step, std::string_view title) const {
    const Axes& axes = session.shown().run->plan().find(step)->axes;
    const auto rows = static_cast<int>(axes.size() < 2 ? 1 : axes[axes.size() - 2].size);
    // The strip has small pictures, too.
    std::vector<DrawnText> texts = seen();
    std::vector<Area> drawn = pictures();
    std::erase_if(texts, [&](const DrawnText& piece) { return piece.high.y < state.stage.low.y; });
    std::erase_if(drawn, [&](const Area& picture) { return picture.high.y < state.stage.low.y; });
    return {texts, drawn, title.empty() ? std::string_view(step) : title, rows, static_cast<int>(axes.back().size)};
}

DrawnText Driver::behind(std::string_view label) const {
    const auto named = find_text(seen(), label);
    INFO(label);
    REQUIRE(named);
    const float line = named->middle().y;
    const DrawnText* nearest = nullptr;
    for (const DrawnText& piece : seen())
        if (piece.low.x >= named->high.x && piece.low.y < line && piece.high.y > line &&
            (nearest == nullptr || piece.low.x < nearest->low.x))
            nearest = &piece;
    REQUIRE(nearest != nullptr);
    return *nearest;
}

bool Driver::click_text(std::string_view part, Button button) {
    const auto piece = find_text(seen(), part);
    if (!piece) return false;
    const ImVec2 at = piece->middle_of(part);
    hands.click(at.x, at.y, button);
    settle();
    return true;
}

bool Driver::click_label(std::string_view label) {
    const auto piece = std::ranges::find(seen(), label, &DrawnText::text);
    if (piece == seen().end()) return false;
    const ImVec2 at = piece->middle();
    hands.click(at.x, at.y);
    settle();
    return true;
}

}  // namespace decoderscope::testing
