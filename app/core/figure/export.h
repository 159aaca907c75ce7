#pragma once

#include "app/core/figure/crop.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/figure.h"
#include "app/core/jobs/job.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/error.h"
#include "engine/base/message.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::core {

// Thrown out of an export that was stopped.
class ExportStopped : public Error {
public:
    ExportStopped() : Error("cancelled; nothing was written") {}
};

// The exhibit, calling `before_each` before each panel is made. An exception from that ends the export.
[[nodiscard]] inline Exhibit watched(Exhibit exhibit, const std::function<void()>& before_each) {
    for (Panel& panel : exhibit.panels)
        panel.heatmap = [make = std::move(panel.heatmap), before_each] {
            before_each();
            return make();
        };
    return exhibit;
}

// The endings of the formats, for display: ".png, .svg, .pdf, …".
[[nodiscard]] std::string export_endings();
// Whether a path ends in one of them, ignoring case.
[[nodiscard]] bool is_export_path(std::string_view path);

// What is written, and how pictures are drawn.
struct ExportOptions {
    double scale = 2;   // pixels of a PNG per figure unit (1/96 inch)
    FigureStyle style;  // the caption is the exhibit's
    Crop crop = {};     // of files of numbers, too
    bool operator==(const ExportOptions&) const = default;
};

// Lengths and colours as the command line says them, and the window's command. Each throws Error saying what was
// expected. "8.5cm", "3.25in": a width, in units of a figure.
[[nodiscard]] double width_from(std::string_view text);
// "7pt", "7": a size of type, in units of a figure.
[[nodiscard]] double font_size_from(std::string_view text);
// "viridis", "cividis", "blues", "greys", "diverging".
[[nodiscard]] ColorMap color_map_from(std::string_view text);
// The maps that an export may have, and their names there.
[[nodiscard]] std::span<const std::pair<ColorMap, Phrase>> export_color_maps();

// The options of `decoderscope export` that say the same, each with a space before it; empty for those that it has
// anyway.
[[nodiscard]] std::string command_options(const ExportOptions& options);

// Writes the exhibit in the format of the path's ending. The file appears whole or not at all, and the same exhibit
// gives the same bytes. Throws Error naming the path if its ending is none of the formats, the format cannot hold the
// exhibit, or it cannot be written.
void export_exhibit(const Exhibit& exhibit, const std::string& path, const ExportOptions& options = {});

// Writes every panel to its own file in a new folder, named by Panel::file_name() plus `ending` (".svg"). The folder
// appears with all of them or not at all. Throws Error naming it if it exists and is not empty, or cannot be written.
void export_each(const Exhibit& exhibit, const std::string& folder, const std::string& ending,
                 const ExportOptions& options = {});
// As above, in slices, one panel each; the exhibit must outlive it. Dropped before its end, it leaves nothing behind.
[[nodiscard]] Resumable<Done> each_exported(const Exhibit& exhibit, std::string folder, std::string ending,
                                            ExportOptions options);

// Writes files in the background, so that the window never waits. One at a time: a new one waits for the previous one.
class Exporter {
public:
    struct Order {
        std::shared_ptr<const Exhibit> exhibit;
        std::string path;  // a file, or with `each` a new folder
        ExportOptions options;
        std::string each;  // the file ending, for one file per panel; empty: one file
    };
    struct Result {
        Sentence sentence;  // what was written, or why nothing was
        bool failed = false;
        std::string path;  // absolute, of what was written; empty if nothing was
    };
    // The progress of the order under way.
    struct Progress {
        std::string path;
        std::size_t done = 0, total = 1;  // panels
    };

    // `wake` is called when there is something new to show, from another thread if there are threads.
    explicit Exporter(std::function<void()> wake);

    void start(Order order);
    // Stops the order under way; it leaves nothing behind.
    void stop() { job_.stop(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Waits until a result is ready, nothing is under way, or `patience` runs out.
    void wait(std::chrono::milliseconds patience) { job_.wait(patience); }
    // Waits until nothing is under way.
    void finish() { job_.finish(); }
    // Without threads: as in JobRunner. A slice is a file.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }
    // Nothing while there is nothing to do.
    [[nodiscard]] std::optional<Progress> progress() const;

private:
    void begin(const Order& order);
    void count_panel(const std::stop_token& stop);
    Resumable<Result> write(Order order, std::stop_token stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    Progress progress_;
    Job<Result> job_;  // last: its work uses the rest
};

}  // namespace decoderscope::core
