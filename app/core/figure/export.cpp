#include "app/core/figure/export.h"

#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/numpy.h"
#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "engine/base/bounds.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/files/safetensors.h"
#include "engine/platform/files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <ostream>
#include <utility>

namespace decoderscope::core {

Exporter::Exporter(std::function<void()> wake) : wake_(std::move(wake)), job_(wake_) {}

void Exporter::start(Order order) {
    order.path = absolute_path(order.path);  // it is told to the user, who may not know which folder this one is
    begin(order);
    job_.start([this, order = std::move(order)](const std::stop_token& stop) { return write(order, stop); });
}

void Exporter::begin(const Order& order) {
    const std::lock_guard lock(mutex_);
    progress_ = {order.path, 0, std::max<std::size_t>(order.exhibit->panels.size(), 1)};
}

std::optional<Exporter::Progress> Exporter::progress() const {
    if (!job_.busy()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return progress_;
}

// Called before each panel is made.
void Exporter::count_panel(const std::stop_token& stop) {
    if (stop.stop_requested()) throw ExportStopped();
    {
        const std::lock_guard lock(mutex_);
        if (progress_.done < progress_.total) ++progress_.done;
    }
    if (wake_) wake_();
}

// Nothing catches an exception from here, so every error becomes a sentence.
Resumable<Exporter::Result> Exporter::write(Order order, std::stop_token stop) {
    begin(order);  // again: while it waited, progress was that of the previous order
    Result result;
    try {
        const Exhibit exhibit = watched(*order.exhibit, [&] { count_panel(stop); });
        if (order.each.empty()) {
            export_exhibit(exhibit, order.path, order.options);
            const bool part = !order.options.crop.keeps_all();
            result = {part ? message("Written to {path}: a part, {crop}",
                                     {{"path", order.path}, {"crop", text_of(order.options.crop)}})
                           : message("Written to {path}", {{"path", order.path}}),
                      false, order.path};
        } else {
            co_await each_exported(exhibit, order.path, order.each, order.options);
            result = {message_n("{count} file written to {path}", "{count} files written to {path}",
                                exhibit.panels.size(), {{"path", order.path}}),
                      false, order.path};
        }
    } catch (const ExportStopped& stopped) {
        result = {message("{path}: {reason}", {{"path", order.path}, {"reason", stopped.what()}}), true};
    } catch (const std::bad_alloc&) {
        result = {message("{path}: does not fit into the machine's memory", {{"path", order.path}}), true};
    } catch (const std::exception& error) {
        result = {sentence_of(error), true};
    }
    co_return result;
}

namespace {

constexpr double kUnitsAnInch = 96, kCentimetresAnInch = 2.54, kPointsAnInch = 72;
constexpr Bounds<double> kCentimetres{1, 200}, kInches{1 / kCentimetresAnInch, 200 / kCentimetresAnInch},
    kPoints{3, 72};

using Write = void (*)(std::ostream& out, const Exhibit& exhibit, const ExportOptions& options);

struct Format {
    std::string_view ending;
    Write write;  // nullptr for safetensors, which writes its file itself
};

constexpr std::array<Format, 9> formats = {{
    {".png", [](std::ostream& out, const Exhibit& exhibit,
                const ExportOptions& o) { write_png(out, exhibit_figure(exhibit, o.style), o.scale); }},
    {".svg", [](std::ostream& out, const Exhibit& exhibit,
                const ExportOptions& o) { write_svg(out, exhibit_figure(exhibit, o.style)); }},
    {".pdf", [](std::ostream& out, const Exhibit& exhibit,
                const ExportOptions& o) { write_pdf(out, exhibit_figure(exhibit, o.style)); }},
    {".txt", [](std::ostream& out, const Exhibit& exhibit,
                const ExportOptions&) { out << english_text(said(exhibit)) << '\n'; }},
    {".csv", [](std::ostream& out, const Exhibit& exhibit, const ExportOptions&) { write_csv(out, exhibit); }},
    {".npy",
     [](std::ostream& out, const Exhibit& exhibit, const ExportOptions&) { write_npy(out, one_array_of(exhibit)); }},
    {".npz",
     [](std::ostream& out, const Exhibit& exhibit, const ExportOptions&) { write_npz(out, arrays_of(exhibit)); }},
    {".json", [](std::ostream& out, const Exhibit& exhibit, const ExportOptions&) { write_json(out, exhibit); }},
    {".safetensors", nullptr},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The path's last ending in lower case, with its point; empty if it has none.
std::string ending_of(std::string_view path) {
    const std::size_t name = platform::name_in_path(path);
    const std::size_t point = path.find_last_of('.');
    if (point == std::string_view::npos || point < name) return "";
    std::string ending(path.substr(point));
    std::transform(ending.begin(), ending.end(), ending.begin(), lower);
    return ending;
}

// The format of a path; nullptr if its ending is none of them.
const Format* format_of(std::string_view path) {
    const std::string ending = ending_of(path);
    for (const Format& format : formats) {
        if (format.ending == ending) return &format;
    }
    return nullptr;
}

// A tensor's axes have names; an exported array's axes only need distinct ones.
Tensor tensor_of(const NamedArray& array) {
    constexpr std::array<std::string_view, 4> names = {"a", "b", "c", "d"};
    Axes axes;
    for (std::size_t i = 0; i < array.shape.size(); ++i) axes.push_back({names[i], array.shape[i]});
    Tensor tensor(axes);
    auto to = tensor.writable().begin();
    array.for_each_piece([&](std::span<const float> values) { to = std::copy(values.begin(), values.end(), to); });
    return tensor;
}

// What a cropped tensor is a part of stands in the file's metadata.
void write_tensors(const Exhibit& exhibit, const std::string& path) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const NamedArray& array : arrays_of(exhibit)) tensors.emplace_back(array.name, tensor_of(array));
    std::map<std::string, std::string, std::less<>> metadata;
    for (const Panel& panel : exhibit.panels)
        if (!panel.part.empty()) metadata[panel.tensor] = panel.part;
    write_safetensors(path, tensors, metadata);
}

// A folder next to the target, removed with everything in it unless it was renamed.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& target) : target_(target) {
        std::error_code failed;
        const bool there = std::filesystem::exists(target, failed);
        if (there && (!std::filesystem::is_directory(target, failed) || !std::filesystem::is_empty(target, failed)))
            throw Error("{target}: already exists; expected a new or an empty folder", {{"target", target}});
        path_ = std::filesystem::path(target).string();
        while (path_.size() > 1 && platform::name_in_path(path_) == path_.size()) path_.pop_back();
        path_ = temporary_beside(path_);
        std::filesystem::create_directory(path_, failed);
        if (failed)
            throw Error("{target}: cannot be created: {reason}", {{"target", target}, {"reason", failed.message()}});
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::string& path() const { return path_; }
    // An error message that names the target instead of this folder.
    [[nodiscard]] std::string named_as_target(std::string message) const {
        if (const std::size_t at = message.find(path_); at != std::string::npos)
            message.replace(at, path_.size(), target_);
        return message;
    }
    void keep() {
        std::error_code failed;
        std::filesystem::rename(path_, target_, failed);
        if (failed && std::filesystem::remove(target_, failed))  // an empty folder, which not every system replaces
            std::filesystem::rename(path_, target_, failed);
        if (failed)
            throw Error("{target}: cannot be written: {reason}", {{"target", target_}, {"reason", failed.message()}});
        path_.clear();
    }

private:
    std::string target_, path_;
};

}  // namespace

std::string export_endings() {
    std::string text;
    for (std::size_t i = 0; i < formats.size(); ++i) text += (i == 0 ? "" : ", ") + std::string(formats[i].ending);
    return text;
}

bool is_export_path(std::string_view path) { return format_of(path) != nullptr; }

std::span<const std::pair<ColorMap, Phrase>> export_color_maps() {
    static constexpr std::array<std::pair<ColorMap, Phrase>, 5> maps = {
        {{ColorMap::viridis, message("viridis")},
         {ColorMap::cividis, message("cividis")},
         {ColorMap::blues, message("blues")},
         {ColorMap::greys, message("greys")},
         {ColorMap::blue_orange, message("diverging")}}};
    return maps;
}

ColorMap color_map_from(std::string_view text) {
    for (const auto& [map, name] : export_color_maps())
        if (text == name.english()) return map;
    throw Error("“{text}”: expected one of viridis, cividis, blues, greys, diverging", {{"text", text}});
}

double width_from(std::string_view text) {
    const bool inches = text.ends_with("in");
    const auto number = number_within<double>(text.substr(0, text.size() - std::min<std::size_t>(text.size(), 2)),
                                              inches ? kInches : kCentimetres);
    if (!number || (!inches && !text.ends_with("cm")))
        throw Error("“{text}”: expected a width such as 8.5cm or 3.35in, from 1 to 200 cm", {{"text", text}});
    return *number * (inches ? kUnitsAnInch : kUnitsAnInch / kCentimetresAnInch);
}

double font_size_from(std::string_view text) {
    const auto points = number_within<double>(text.ends_with("pt") ? text.substr(0, text.size() - 2) : text, kPoints);
    if (!points) throw Error("“{text}”: expected a size of type from 3pt to 72pt, such as 7pt", {{"text", text}});
    return *points * kUnitsAnInch / kPointsAnInch;
}

std::string command_options(const ExportOptions& options) {
    const ExportOptions usual;
    const FigureStyle& style = options.style;
    std::string text;
    if (options.crop.rows || options.crop.columns) text += " --crop " + text_of(options.crop);
    if (!options.crop.special) text += " --no-special";
    if (style.width > 0)
        text +=
            " --width " + shortest(std::round(style.width / kUnitsAnInch * kCentimetresAnInch * 1000) / 1000) + "cm";
    if (style.font_size != usual.style.font_size)
        text +=
            " --font-size " + shortest(std::round(style.font_size / kUnitsAnInch * kPointsAnInch * 1000) / 1000) + "pt";
    if (options.scale != usual.scale) text += " --dpi " + shortest(std::round(options.scale * kUnitsAnInch));
    for (const auto& [map, name] : export_color_maps())
        if (style.map == map) text += std::string(" --colors ") + name.english();
    if (!style.title) text += " --no-title";
    if (!style.numbers) text += " --no-numbers";
    if (!style.bar) text += " --no-bar";
    if (!style.notes) text += " --no-caption";
    if (style.lines) text += " --lines";
    if (style.dark) text += " --dark";
    return text;
}

void export_exhibit(const Exhibit& whole, const std::string& path, const ExportOptions& options) {
    const InEnglish english;
    const Exhibit exhibit = naming(path, [&] { return cropped(whole, options.crop); });
    const Format* format = format_of(path);
    if (format == nullptr)
        throw Error("{path}: cannot tell the format of the export; expected a path that ends in one of {endings}",
                    {{"path", path}, {"endings", export_endings()}});
    if (format->write == nullptr) return write_tensors(exhibit, path);
    write_whole(path, [&](std::ostream& out) {
        try {
            format->write(out, exhibit, options);
        } catch (const ExportStopped&) {
            throw;
        } catch (const Error& error) {
            throw Error("{path}: {error}", {{"path", path}, {"error", error.sentence()}});
        }
    });
}

void export_each(const Exhibit& exhibit, const std::string& folder, const std::string& ending,
                 const ExportOptions& options) {
    finished(each_exported(exhibit, folder, ending, options));
}

Resumable<Done> each_exported(const Exhibit& exhibit, std::string folder, std::string ending, ExportOptions options) {
    TemporaryFolder temporary(folder);
    try {
        for (const Panel& panel : exhibit.panels) {
            const Exhibit one{.caption = exhibit.caption, .panels = {panel}};
            export_exhibit(one, (std::filesystem::path(temporary.path()) / (panel.file_name() + ending)).string(),
                           options);
            co_yield kPause;
        }
    } catch (const ExportStopped&) {
        throw;
    } catch (const Error& error) {
        throw Error(Sentence::verbatim(temporary.named_as_target(error.what())));
    }
    temporary.keep();
    co_return Done{};
}

}  // namespace decoderscope::core
