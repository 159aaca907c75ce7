// Arguments -> a command, or the window.

#include "app/application.h"
#include "app/cli.h"
#include "app/core/files/autosave.h"
#include "app/core/files/settings.h"
#include "app/core/lessons/progress.h"
#include "app/desktop/tour.h"
#include "app/window/window.h"

#include <iostream>
#include <memory>
#include <utility>

namespace {

int show(const decoderscope::WindowRequest& request) {
    using namespace decoderscope;
    if (!request.tour.empty()) {
        for (const std::string& file : draw_tour(request.work.scenario, request.tour)) std::cout << file << '\n';
        return 0;
    }
    auto application = std::make_unique<Application>(request.work, wake_window);
    application->remember_settings(settings_path());
    application->remember_lessons(lessons::progress_path());
    application->autosave_in(autosave_folder());
    if (request.lesson) application->open(request.lesson);
    if (request.embed) application->embed();
    return run_window(std::move(application));
}

}  // namespace

int main(int count, char** values) { return decoderscope::run_program(count, values, show); }
