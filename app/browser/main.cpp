// The page's arguments (its link) -> the window.

#include "app/application.h"
#include "app/cli.h"
#include "app/core/lessons/progress.h"
#include "app/core/work/autosave.h"
#include "app/core/work/settings.h"
#include "app/window/window.h"
#include "engine/error.h"

#include <exception>
#include <iostream>
#include <memory>
#include <utility>

// The page's script runs it once the files are there. What is written to standard error, the page shows.
int main(int count, char** values) {
    using namespace decoderscope;
    try {
        const CliResult result = run_cli(std::vector<std::string>(values + 1, values + count), std::cout, std::cerr);
        if (!result.window) return result.status;
        auto application = std::make_unique<Application>(result.window->work, wake_window);
        application->remember_settings(settings_path());
        if (result.window->embed) {
            application->embed();  // several may stand on one page: none of them keeps work or progress
        } else {
            application->remember_lessons(lessons::progress_path());
            application->autosave_in(autosave_folder());
        }
        if (result.window->lesson) application->open(result.window->lesson);
        return run_window(std::move(application));
    } catch (const Error& error) {
        std::cerr << "decoderscope: " << error.what() << '\n';
    } catch (const std::exception& error) {
        std::cerr << "decoderscope: internal error: " << error.what() << '\n';
    }
    return 1;
}
