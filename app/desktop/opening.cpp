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

// What is done within this time needs no window before.
constexpr std::chrono::milliseconds kMoment{50};

core::files::SavedSession read_or_say(const std::string& name, const Read& read, LoadProgress& progress) {
    try {
        return read(progress);
    } catch (const std::bad_alloc&) {
        throw Error("{name}: does not fit into the machine's memory", {{"name", name}});
    }
}

}  // namespace

Opening::Opening(std::string name, Work work)
    : name_(std::move(name)),
      work_(std::move(work)),
      settings_(core::files::load_settings(core::files::settings_path())),
      language_(core::language::languages(), platform::language_variable) {
    static_cast<void>(language_.follow(settings_.language));
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
    work_.draw_progress(ui, width);
    ImGui::EndGroup();
    ImGui::End();
    return false;
}

template <class Result>
Result OpeningWindow::wait_for(core::Job<Result>& job, const std::string& name,
                               std::function<void(const views::Ui& ui, float width)> draw_progress) {
    job.advance(core::JobRunner::Clock::now());
    job.wait(kMoment);
    if (auto result = job.collect()) return std::move(*result);
    Opening opening(name, {.draw_progress = std::move(draw_progress),
                           .is_done = [&] { return !job.busy(); },
                           .works = [&] { return job.due().has_value(); },
                           .advance = [&](window::Clock::time_point until) { job.advance(until); }});
    try {
        window_.show(opening);
    } catch (const Error&) {  // there is no display: what is wrong with the file is said before that
        job.finish();
        static_cast<void>(job.collect());
        throw;
    }
    if (auto result = job.collect()) return std::move(*result);
    throw LoadStopped();
}

core::files::SavedSession OpeningWindow::read(const std::string& name, const Read& read) {
    core::Job<core::files::SavedSession> job(window::wake_window);
    const auto progress = std::make_shared<LoadProgress>();
    job.start([=](const std::stop_token& stop) {
        progress->stop = stop;
        return core::in_one_slice([=] { return read_or_say(name, read, *progress); });
    });
    return wait_for(job, name, [=](const views::Ui& ui, float width) {
        views::dialogs::draw_reading(ui, name, {progress->bytes_read, progress->bytes_total}, width);
    });
}

core::FirstRuns OpeningWindow::compute(const core::files::SavedSession& work) {
    core::Job<core::FirstRuns> job(window::wake_window);
    const auto progress = std::make_shared<core::WorkProgress>();
    job.start([=](const std::stop_token& stop) { return core::first_runs(work, stop, progress); });
    const std::string name = work.scenario.about().name;
    return wait_for(job, name, [=](const views::Ui& ui, float width) {
        views::dialogs::draw_computing(ui, name, *progress, width);
    });
}

int OpeningWindow::run(std::unique_ptr<window::Frontend> program) {
    try {
        window_.show(*program);
    } catch (...) {
        program->ended(false);  // what is unsaved stays, to be offered again
        throw;
    }
    program->ended(!window_.told_to_stop());
    return 0;
}

}  // namespace decoderscope::app
