#include "tests/views/driver.h"

#include "app/views/dialogs/saving.h"
#include "app/views/widgets/theme.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <ctime>

namespace decoderscope::testing {

using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::shell;
using namespace decoderscope::views;
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

Driver::Driver(std::string_view model, float scale, ImVec2 size) : Driver(make_bundled_model(model), scale, size) {}

Driver::Driver(Opened opened, float scale, ImVec2 size)
    : session(std::move(opened)), demand_(installed_fonts()), context_(ImGui::CreateContext()) {
    ImGui::SetCurrentContext(context_.get());
    // As after the first minute.
    state.settings.introduction_closed = true;
    state.settings.hint_done = true;
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
    compat::bake_on_cpu(atlas);
}

bool Driver::frame() {
    ImGui::SetCurrentContext(context_.get());  // another driver may have been made since
    shown_.reset();
    if (demand_.grew()) load(fonts_.scale);
    const bool more = hands.feed(ImGui::GetIO());
    ImGui::NewFrame();
    if (const auto view = session.take_view()) apply(show_saved(state, *view));
    const Theme theme = make_theme(state.is_dark());
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
        if (const Command* command = std::get_if<Command>(&one)) session.apply(*command);
}

void Driver::settle() {
    while (frame()) {
    }
    frame();
    frame();
}

void Driver::settle_one() { static_cast<void>(frame()); }

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

std::optional<DrawnText> Driver::find_in_map(std::string_view name, std::string_view heading) const {
    // A name too long for the map's row is cut in its middle.
    const auto is_drawn_as = [](std::string_view whole, std::string_view drawn) {
        constexpr std::string_view cut = "…";
        const std::size_t gap = drawn.find(cut);
        if (gap == std::string_view::npos) return whole == drawn;
        return whole.starts_with(drawn.substr(0, gap)) && whole.ends_with(drawn.substr(gap + cut.size()));
    };
    const auto last = [&](std::string_view text, float above) {
        std::optional<DrawnText> found;
        for (const DrawnText& piece : seen())
            if (piece.high.x <= state.settings.map_width && piece.low.y >= above && is_drawn_as(text, piece.text))
                found = piece;
        return found;
    };
    if (heading.empty()) return last(name, 0.0F);
    const std::optional<DrawnText> part = last(heading, 0.0F);
    return part ? last(name, part->high.y) : std::nullopt;
}

DrawnHeatmap Driver::heatmap(const std::string& step, std::string_view title) const {
    const Axes& axes = session.shown().run->plan().find(step)->axes;
    const auto rows = static_cast<int>(axes.size() < 2 ? 1 : axes[axes.size() - 2].size);
    return {seen(), pictures(), title.empty() ? std::string_view(step) : title, rows,
            static_cast<int>(axes.back().size)};
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
