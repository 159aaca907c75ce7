// Arguments -> a command, or the window.

#include "app/application.h"
#include "app/cli.h"
#include "app/core/files/session_keeper.h"
#include "app/core/files/settings.h"
#include "app/core/lessons/progress.h"
#include "app/desktop/opening.h"
#include "app/desktop/tour.h"
#include "app/window/window.h"

#include <iostream>
#include <memory>
#include <utility>

namespace {

using namespace decoderscope;

int show(const app::WindowRequest& request, app::OpeningWindow& window) {
    if (!request.tour.empty()) {
        for (const std::string& file : app::draw_tour(request.work.scenario, request.tour)) std::cout << file << '\n';
        return 0;
    }
    auto application =
        std::make_unique<app::Application>(request.work, window.compute(request.work), window::wake_window);
    application->remember_settings(core::files::settings_path());
    application->remember_lessons(core::lessons::progress_path());
    application->autosave_in(core::files::autosave_folder());
    if (request.log) application->session().log_to(request.log);
    if (request.lesson) application->open(request.lesson);
    if (request.embed) application->embed();
    return window.run(std::move(application));
}

}  // namespace

int main(int count, char** values) {
    app::OpeningWindow window;
    return app::run_program(
        count, values, [&](const std::string& name, const app::Read& read) { return window.read(name, read); },
        [&](const app::WindowRequest& request) { return show(request, window); });
}
