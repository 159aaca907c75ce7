// The page's arguments (its link) -> the window.

#include "app/application.h"
#include "app/cli.h"
#include "app/core/files/autosave.h"
#include "app/core/files/settings.h"
#include "app/core/lessons/progress.h"
#include "app/window/window.h"

#include <memory>
#include <utility>

namespace {

int show(const decoderscope::WindowRequest& request) {
    using namespace decoderscope;
    auto application = std::make_unique<Application>(request.work, wake_window);
    application->remember_settings(settings_path());
    if (request.embed) {
        application->embed();  // several may stand on one page: none of them keeps work or progress
    } else {
        application->remember_lessons(lessons::progress_path());
        application->autosave_in(autosave_folder());
    }
    if (request.lesson) application->open(request.lesson);
    return run_window(std::move(application));
}

}  // namespace

// The page's script runs it once the files are there. What is written to standard error, the page shows.
int main(int count, char** values) { return decoderscope::run_program(count, values, show); }
