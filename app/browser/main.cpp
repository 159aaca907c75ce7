// The page's arguments (its link) -> the window.

#include "app/application.h"
#include "app/core/files/session_keeper.h"
#include "app/core/files/settings.h"
#include "app/core/lessons/progress.h"
#include "app/page_request.h"
#include "app/window/window.h"
#include "engine/base/error.h"

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace decoderscope;

// The application on what is asked for; if it can't be computed, on the default model, with a sentence that says why.
std::unique_ptr<app::Application> opened(app::WindowRequest& request) {
    const auto open = [&] {
        return std::make_unique<app::Application>(request.work, core::finished(core::first_runs(request.work)),
                                                  window::wake_window);
    };
    try {
        return open();
    } catch (const std::exception& error) {
        if (!request.is_named) throw;
        request = app::default_page(request.embed, sentence_of(error));
    }
    return open();
}

int show(app::WindowRequest request) {
    std::unique_ptr<app::Application> application = opened(request);
    application->remember_settings(core::files::settings_path());
    if (request.embed) {
        application->embed();  // several may stand on one page: none of them keeps work or progress
    } else {
        application->remember_lessons(core::lessons::progress_path());
        application->autosave_in(core::files::autosave_folder());
    }
    if (!request.said.empty()) application->say(request.said);
    return window::run_window(std::move(application));
}

}  // namespace

// The page's script runs it once the files are there. What is written to standard error, the page shows.
int main(int count, char** values) {
    try {
        const std::vector<std::string> arguments(values + 1, values + count);
        return show(app::request_of_page(arguments));
    } catch (const std::exception& error) {
        std::cerr << "decoderscope: " << error.what() << '\n';
        return 1;
    }
}
