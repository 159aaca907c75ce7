#include "app/core/figure/exporter.h"

#include "engine/base/error.h"
#include "engine/base/file.h"

#include <algorithm>
#include <new>
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
            result = {message("Written to {path}", {{"path", order.path}}), false, order.path};
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

}  // namespace decoderscope::core
