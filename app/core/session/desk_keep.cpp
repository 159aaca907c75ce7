// How the work is kept: what is written and when, and what comes back.
#include "app/core/session/desk.h"

#include "app/core/text/counting.h"
#include "engine/error.h"
#include "engine/file.h"

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

void Desk::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
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

void Desk::discard_offer() {
    if (offers_.empty()) return;
    remove_leftover(offers_.front().leftover);
    offers_.erase(offers_.begin());
}

void Desk::save(SavedWork work, const std::string& path, std::uint64_t changes) {
    keeper_.save(std::move(work), absolute_path(path), changes);
}

bool Desk::wants(const Kept& now) const { return keeper_.autosaves() && now.changes != saved_changes_ && kept_ != now; }

void Desk::keep(SavedWork work, Kept now) {
    keeper_.changed(std::move(work), now.changes);
    kept_ = std::move(now);
}

void Desk::set_saved(std::uint64_t changes) {
    saved_changes_ = changes;
    keeper_.drop_autosave();
}

void Desk::end(bool by_the_person) {
    if (by_the_person)
        keeper_.drop_autosave();
    else if (keeper_.autosaves())
        keeper_.flush();
    keeper_.wait();
}

void Desk::take(const SessionKeeper::Outcome& outcome, std::uint64_t changes) {
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
    if (saved_changes_ == changes) {
        keeper_.drop_autosave();
        kept_.reset();
    }
    message_ = Message{"Saved to " + outcome.path};
}

// The work of an autosave is unsaved still; the file stays until this process has written its own.
void Desk::adopt(const std::string& leftover) {
    for (auto offer = offers_.begin(); offer != offers_.end(); ++offer) {
        if (offer->leftover.path != leftover) continue;
        keeper_.adopt(std::move(offer->leftover));
        offers_.erase(offer);
        return;
    }
}

}  // namespace decoderscope
