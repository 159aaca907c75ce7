// How a session's work is kept: what is written and when, and what comes back.
#include "app/core/session/session.h"

#include "app/core/text/counting.h"
#include "engine/error.h"

#include <array>
#include <ctime>
#include <filesystem>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// "lesson.dscope, 3 edits", or "reverse, 3 edits".
std::string summary_of(const SessionFile& file) {
    const std::string& name = file.saved_as.empty() ? file.run.model.name : file.saved_as;
    return fs::path(name).filename().string() + ", " + counted(file.run.edits.size(), "edit");
}

// "20 Nov, 14:03"
std::string time_text(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm local{};
    std::array<char, 32> text{};
    if (localtime_r(&seconds, &local) == nullptr) return {};
    return {text.data(), std::strftime(text.data(), text.size(), "%e %b, %H:%M", &local)};
}

}  // namespace

SavedWork Session::work(const SavedView& view) const {
    SavedWork work{.scenario = scenario_, .cursor = cursor_, .sampling = sampling_, .view = view, .saved_as = file_};
    work.view.compare.file = shown_.trace_file ? shown_.trace_file->path : std::string();
    if (shown_.pinned && shown_.pinned->scenario) work.pins.push_back({shown_.pinned->label, *shown_.pinned->scenario});
    return work;
}

void Session::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
    if (folder.empty()) return;
    try {
        keeper_.autosave_in(folder, delay);
    } catch (const Error& error) {
        message_ = Message{std::string("Unsaved work would not outlive a crash: ") + error.what(), true};
        return;
    }
    for (Leftover& leftover : leftovers(folder)) {
        try {
            std::string text = summary_of(read_session_file(leftover.path)) + ", " + time_text(leftover.when);
            offers_.push_back({std::move(leftover), std::move(text)});
        } catch (const Error&) {
            continue;  // of a newer version: another program's to offer
        }
    }
}

void Session::keep(const SavedView& view) {
    if (!keeper_.autosaves() || !unsaved()) return;
    Kept now{changes_, cursor_, view};
    if (kept_ == now) return;
    keeper_.changed(work(view), changes_);
    kept_ = std::move(now);
}

void Session::end(bool by_the_person) {
    if (by_the_person)
        keeper_.drop_autosave();
    else if (keeper_.autosaves())
        keeper_.flush();
    keeper_.wait();
}

void Session::take(const SessionKeeper::Outcome& outcome) {
    if (outcome.autosave) {
        if (outcome.error != keeping_error_ && !outcome.error.empty())
            message_ = Message{"Unsaved work would not outlive a crash: " + outcome.error, true};
        keeping_error_ = outcome.error;
        if (outcome.error.empty()) autosaved_changes_ = outcome.number;
        return;
    }
    if (!outcome.error.empty()) {
        message_ = Message{outcome.error, true};
        return;
    }
    file_ = outcome.path;
    saved_changes_ = outcome.number;
    if (!unsaved()) {
        keeper_.drop_autosave();
        kept_.reset();
    }
    message_ = Message{"Saved to " + outcome.path};
}

// The work of an autosave is unsaved still; the file stays until this process has written its own.
void Session::take_over_leftover(const std::string& path) {
    for (auto offer = offers_.begin(); offer != offers_.end(); ++offer) {
        if (offer->leftover.path != path) continue;
        keeper_.adopt(std::move(offer->leftover));
        offers_.erase(offer);
        return;
    }
}

}  // namespace decoderscope
