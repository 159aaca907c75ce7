// How the work is saved: what is written and when, and how outcomes are reported.
#include "app/core/session/desk.h"

#include "app/core/text/counting.h"
#include "engine/error.h"
#include "engine/file.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// "20 Nov, 14:03"
std::string time_text(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm local{};
    std::array<char, 32> text{};
    if (localtime_r(&seconds, &local) == nullptr) return {};
    return {text.data(), std::strftime(text.data(), text.size(), "%e %b, %H:%M", &local)};
}

Sentence part_of(const SessionFile& file, WorkPart part) {
    switch (part) {
        case WorkPart::edits:
            return message_n("{count} edit", "{count} edits", file.run.edits.size());
        case WorkPart::input:
            return message("another input");
        case WorkPart::settings:
            return message("other settings");
        case WorkPart::sampling:
            return message("other sampling");
        case WorkPart::pin:
            return message("a pinned run");
    }
    return {};
}

// "lesson.dscope, 3 edits, from 20 Nov, 14:03", or "reverse, another input, from …".
Sentence summary_of(const SessionFile& file, std::chrono::system_clock::time_point when) {
    const std::string& name = file.saved_as.empty() ? file.run.model.name : file.saved_as;
    Sentence summary = Sentence::verbatim(fs::path(name).filename().string());
    const auto add = [&](Sentence next) {
        summary = message("{first}, {next}", {{"first", summary}, {"next", std::move(next)}});
    };
    const bool told = std::ranges::find(file.changed, WorkPart::edits) != file.changed.end();
    if (!told && !file.run.edits.empty()) add(part_of(file, WorkPart::edits));
    for (const WorkPart part : file.changed) add(part_of(file, part));
    add(message("from {time}", {{"time", time_text(when)}}));
    return summary;
}

}  // namespace

void Desk::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
    if (folder.empty()) return;
    try {
        keeper_.autosave_in(folder, delay);
    } catch (const Error& error) {
        message_ = Message{Sentence("Autosave is off: {error}", {{"error", error.sentence()}}), true};
        return;
    }
    for (Leftover& leftover : leftovers(folder)) {
        try {
            Sentence text = summary_of(read_session_file(leftover.path), leftover.when);
            offers_.push_back({std::move(leftover), std::move(text)});
        } catch (const Error&) {
            continue;  // of a newer version: that version will offer it
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

void Desk::keep_nothing() {
    if (!kept_) return;
    kept_.reset();
    keeper_.drop_autosave();
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
            message_ = Message{Sentence("Autosave is off: {error}", {{"error", outcome.error}}), true};
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
    message_ = Message{Sentence("Saved to {path}", {{"path", outcome.path}}), false, outcome.path};
}

// Work from an autosave still counts as unsaved; the file stays until this process has written its own.
void Desk::adopt(const std::string& leftover) {
    for (auto offer = offers_.begin(); offer != offers_.end(); ++offer) {
        if (offer->leftover.path != leftover) continue;
        keeper_.adopt(std::move(offer->leftover));
        offers_.erase(offer);
        return;
    }
}

}  // namespace decoderscope
