#include "app/desktop/opening.h"

#include "app/platform.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/theme.h"
#include "engine/base/error.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>

namespace decoderscope::app {

namespace {

// What is read within this time needs no window before.
constexpr std::chrono::milliseconds kMoment{300};

core::files::SavedSession read_or_say(const std::string& name, const Read& read, LoadProgress& progress) {
    try {
        return read(progress);
    } catch (const std::bad_alloc&) {
        throw Error("{name}: does not fit into the machine's memory", {{"name", name}});
    }
}

}  // namespace

Opening::Opening(std::string name, Read read, std::function<void()> wake)
    : name_(std::move(name)),
      settings_(core::files::load_settings(core::files::settings_path())),
      language_(core::language::languages(), platform::language_variable),
      job_(std::move(wake)) {
    static_cast<void>(language_.follow(settings_.language));
    job_.start([name = name_, read = std::move(read), progress = progress_](const std::stop_token& stop) {
        progress->stop = stop;
        return core::in_one_slice([name, read, progress] { return read_or_say(name, read, *progress); });
    });
}

std::optional<core::files::SavedSession> Opening::collect(std::chrono::milliseconds patience) {
    job_.advance(core::JobRunner::Clock::now());
    job_.wait(patience);
    return job_.collect();
}

std::string Opening::title() const {
    return std::filesystem::path(name_).filename().string() + " · Decoderscope";  // not a message: a name
}

bool Opening::frame(views::Textures& textures) {
    views::ViewState state;
    state.settings = settings_;
    state.desktop = surroundings();
    const views::Theme theme = views::make_theme(state.is_dark(), settings_.sequential);
    views::apply_style(theme, fonts_->scale);
    const views::Ui ui{*fonts_, theme, textures};
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float width = std::min(ui.px(420), size.x - ui.px(32));
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("opening", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    ImGui::SetCursorScreenPos({(size.x - width) * 0.5F, size.y * 0.42F});
    ImGui::BeginGroup();
    views::dialogs::draw_reading(ui, name_, {progress_->bytes_read, progress_->bytes_total}, width);
    ImGui::EndGroup();
    ImGui::End();
    return false;
}

core::files::SavedSession OpeningWindow::read(const std::string& name, const Read& read) {
    Opening opening(name, read, window::wake_window);
    if (auto work = opening.collect(kMoment)) return std::move(*work);
    window_.show(opening);
    if (auto work = opening.collect(std::chrono::milliseconds(0))) return std::move(*work);
    throw LoadStopped();
}

int OpeningWindow::run(std::unique_ptr<window::Frontend> program) {
    window_.show(*program);
    program->ended(!window_.told_to_stop());
    return 0;
}

}  // namespace decoderscope::app
