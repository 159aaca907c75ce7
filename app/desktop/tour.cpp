#include "app/desktop/tour.h"

#include "app/application.h"
#include "app/core/figure/picture_files.h"
#include "app/window/desktop/window_offscreen.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <cstdint>
#include <filesystem>

namespace decoderscope::app {

namespace {

// Draws what the application shows now.
std::string picture(window::OffscreenWindow& window, Application& application, const std::filesystem::path& path) {
    window.settle(application);
    application.session().finish();
    window.settle(application);
    std::vector<core::Rgba> pixels;
    for (const std::uint32_t p : window.pixels())
        pixels.push_back(
            {static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(p >> 8), static_cast<std::uint8_t>(p >> 16), 255});
    write_whole(path.string(), [&](std::ostream& out) {
        core::write_png_pixels(out, window.size().width, window.size().height, pixels);
    });
    return path.string();
}

}  // namespace

std::vector<std::string> draw_tour(const core::Scenario& scenario, const std::string& folder) {
    struct Stop {
        const char* file;
        std::string step;
        bool explain;
    };
    const std::vector<Stop> stops = {{"1-pattern.png", "blocks.0.attn.pattern", false},
                                     {"2-explained.png", "blocks.0.attn.attn_scores", true},
                                     {"3-mask.png", "blocks.0.attn.masked_scores", true},
                                     {"4-norm.png", "blocks.0.ln1.normalized", true},
                                     {"5-output.png", "", true}};
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw Error("{folder}: cannot be created: {reason}", {{"folder", folder}, {"reason", failed.message()}});
    window::OffscreenWindow window({.width = 1280, .height = 800});
    Application application(scenario);
    application.state().settings.introduction_closed = true;
    application.state().settings.reduced_motion = true;  // each picture shows the end of the movement
    std::vector<std::string> files;
    for (const Stop& stop : stops) {
        core::Session& session = application.session();
        if (stop.step.empty())
            session.apply(core::command::GoLast{});
        else
            session.apply(core::command::GoTo{stop.step});
        const Step& step = session.step();
        if (stop.explain) session.apply(core::command::SelectCell{Cell(step.axes.size(), 0)});
        files.push_back(picture(window, application, std::filesystem::path(folder) / stop.file));
    }
    return files;
}

}  // namespace decoderscope::app
