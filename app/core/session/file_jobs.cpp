#include "app/core/session/file_jobs.h"

#include "app/core/files/link.h"
#include "app/core/run/edit_groups.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

// How models and sessions are opened, and messages about files.
namespace decoderscope::core {

void FileJobs::open(const command::OpenModel& command) {
    // A question stays in case the answers don't fit.
    std::optional<load::Recognised> asks;
    if (opening_ && opening_->name == command.name && (!command.answers.empty() || !command.mapping.empty()))
        asks = std::move(opening_->asks);
    opening_ = Opening{.name = command.name,
                       .answers = command.answers,
                       .mapping = command.mapping,
                       .as = command.as,
                       .since = std::chrono::steady_clock::now(),
                       .asks = std::move(asks)};
    loader_.start({.name = command.name, .answers = command.answers, .mapping = command.mapping, .as = command.as});
}

void FileJobs::open(const command::OpenSession& command) {
    opening_ = Opening{.name = command.path, .since = std::chrono::steady_clock::now()};
    loader_.start({.name = command.path, .session = true, .recovered = command.recovered});
}

void FileJobs::open(const command::OpenLink& command) {
    auto linked = std::make_shared<const files::SessionFile>(files::session_of_link(command.link));
    const std::string& model = linked->run.model.name;
    opening_ = Opening{.name = model, .since = std::chrono::steady_clock::now()};
    loader_.start({.name = model, .linked = linked});
}

void FileJobs::ask_again(const load::Model& model) {
    if (model.recognised.questions.empty()) return;
    loader_.stop();
    opening_ = Opening{.name = model.path,
                       .answers = model.answers,
                       .mapping = model.mapping,
                       .reading = false,
                       .since = std::chrono::steady_clock::now(),
                       .asks = model.recognised};
}

void FileJobs::stop_opening() {
    loader_.stop();
    opening_.reset();
}

std::optional<ModelLoader::Result> FileJobs::collect_read(std::chrono::milliseconds patience) {
    if (!reading()) return std::nullopt;
    if (patience.count() > 0) loader_.wait(patience);
    return loader_.collect();
}

bool FileJobs::is_missing_something(const ModelLoader::Result& result) {
    opening_->reading = false;
    if (result.opened || result.work) return false;
    if (result.asks) opening_->asks = result.asks;
    opening_->error = result.error;
    opening_->python = result.python;
    if (!result.error.empty()) tell({result.error, true});
    return true;
}

void FileJobs::refuse(const Sentence& error) {
    opening_->error = error;
    tell({error, true});
}

void FileJobs::run(const ModelLoader::Result& result) {
    opening_.reset();
    opened_ = result;
}

std::optional<ModelLoader::Result> FileJobs::take_started_model() { return std::exchange(opened_, std::nullopt); }

void FileJobs::read_trace(const std::string& path) {
    if (path.empty())
        traces_.stop();
    else
        traces_.start(path);
}

std::optional<std::shared_ptr<const ReferenceRun>> FileJobs::collect_trace() {
    const std::optional<TraceReader::Result> read = traces_.collect();
    if (!read) return std::nullopt;
    if (!read->trace)
        tell({read->error, true});
    else if (read->again)
        tell({decoderscope::message("{file} was saved again, and is compared as it is now",
                                    {{"file", read->trace->label}})});
    return read->trace || read->again ? std::optional(read->trace) : std::nullopt;
}

void FileJobs::finish_transfers() {
    traces_.finish();
    models_.finish();
}

void FileJobs::take(const ModelWriter::Result& written) {
    if (!written.error.empty()) {
        tell({written.error, true});
        return;
    }
    tell({Sentence("Written to {path}", {{"path", written.path}}), false, written.path});
    if (written.open) open(command::OpenModel{written.path, {}, {}});
}

void FileJobs::collect(std::uint64_t changes) {
    if (const auto written = models_.collect()) take(*written);
    if (const auto result = exporter_.collect()) tell({result->sentence, result->failed, result->path});
    for (const files::SessionKeeper::Outcome& outcome : keeper_.collect()) take(outcome, changes);
}

void FileJobs::advance_others(JobRunner::Clock::time_point until) {
    loader_.advance(until);
    traces_.advance(until);
    models_.advance(until);
    exporter_.advance(until);
}

std::optional<JobRunner::Clock::time_point> FileJobs::due() const {
    return earliest({keeper_.due(), loader_.due(), traces_.due(), models_.due(), exporter_.due()});
}

// How the work is saved: what is written and when, and how outcomes are reported.

namespace {

namespace fs = std::filesystem;

// "20 Nov, 14:03"
std::string time_text(std::chrono::system_clock::time_point when) {
    const auto local = platform::local_time(std::chrono::system_clock::to_time_t(when));
    if (!local) return {};
    std::array<char, 32> text{};
    const std::string day = (local->tm_mday < 10 ? " " : "") + std::to_string(local->tm_mday);
    return day + std::string(text.data(), std::strftime(text.data(), text.size(), " %b, %H:%M", &*local));
}

Sentence part_of(const files::SessionFile& file, files::WorkPart part) {
    switch (part) {
        case files::WorkPart::edits:
            return message_n("{count} edit", "{count} edits", count_of_edits(file.run.edits));
        case files::WorkPart::input:
            return message("a changed input");
        case files::WorkPart::settings:
            return message("changed settings");
        case files::WorkPart::sampling:
            return message("changed sampling");
        case files::WorkPart::pin:
            return message("a pinned run");
        case files::WorkPart::training:
            return message("a changed training");
        case files::WorkPart::notes:
            return message_n("{count} note", "{count} notes", file.notes.size());
        case files::WorkPart::overlay:
            return message("changed colours of the strip");
        case files::WorkPart::talk:
            return message_n("a talk of {count} state", "a talk of {count} states", file.talk.size());
    }
    return {};
}

// "lesson.dscope, 3 edits, from 20 Nov, 14:03", or "reverse, a changed input, from …".
Sentence summary_of(const files::SessionFile& file, std::chrono::system_clock::time_point when) {
    const std::string& name = file.saved_as.empty() ? file.run.model.name : file.saved_as;
    Sentence summary = Sentence::verbatim(fs::path(name).filename().string());
    const auto add = [&](Sentence next) {
        summary = message("{first}, {next}", {{"first", summary}, {"next", std::move(next)}});
    };
    const bool told = std::ranges::find(file.changed, files::WorkPart::edits) != file.changed.end();
    if (!told && !file.run.edits.empty()) add(part_of(file, files::WorkPart::edits));
    for (const files::WorkPart part : file.changed) add(part_of(file, part));
    add(message("from {time}", {{"time", time_text(when)}}));
    return summary;
}

}  // namespace

void FileJobs::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
    try {
        if (folder.empty()) throw Error("there is no home folder; set HOME or XDG_STATE_HOME to a folder");
        keeper_.autosave_in(folder, delay);
    } catch (const Error& error) {
        tell({Sentence("Autosave is off: {error}", {{"error", error.sentence()}}), true});
        return;
    }
    for (files::Leftover& leftover : files::leftovers(folder)) {
        try {
            Sentence text = summary_of(files::read_session_file(leftover.path), leftover.when);
            offers_.push_back({std::move(leftover), std::move(text)});
        } catch (const Error&) {
            continue;  // of a newer version: that version will offer it
        }
    }
}

void FileJobs::discard_offer() {
    if (offers_.empty()) return;
    files::remove_leftover(offers_.front().leftover);
    offers_.erase(offers_.begin());
}

void FileJobs::save(files::SavedSession work, const std::string& path, std::uint64_t changes) {
    keeper_.save(std::move(work), absolute_path(path), changes);
}

bool FileJobs::wants(const Kept& now) const {
    return keeper_.autosaves() && now.changes != saved_changes_ && kept_ != now;
}

void FileJobs::keep(files::SavedSession work, Kept now) {
    keeper_.changed(std::move(work), now.changes);
    kept_ = std::move(now);
}

void FileJobs::keep_nothing() {
    if (!kept_) return;
    kept_.reset();
    keeper_.drop_autosave();
}

void FileJobs::leave_kept() {
    kept_.reset();
    keeper_.leave_autosave();
}

void FileJobs::set_saved(std::uint64_t changes) {
    saved_changes_ = changes;
    keeper_.drop_autosave();
}

void FileJobs::end(bool closed_by_user) {
    if (closed_by_user)
        keeper_.drop_all();
    else if (keeper_.autosaves())
        keeper_.flush();
    keeper_.wait();
}

void FileJobs::take(const files::SessionKeeper::Outcome& outcome, std::uint64_t changes) {
    if (outcome.autosave) {
        if (outcome.error != keeping_error_)
            tell(outcome.error.empty()
                     ? Message{decoderscope::message("Your work is autosaved again.")}
                     : Message{Sentence("Autosave is off: {error}", {{"error", outcome.error}}), true});
        keeping_error_ = outcome.error;
        if (outcome.error.empty()) autosaved_changes_ = outcome.number;
        return;
    }
    if (!outcome.error.empty()) {
        tell({outcome.error, true});
        return;
    }
    set_file(outcome.path, outcome.checksum);
    saved_changes_ = outcome.number;
    if (saved_changes_ == changes) {
        keeper_.drop_autosave();
        kept_.reset();
    }
    tell({Sentence("Saved to {path}", {{"path", outcome.path}}), false, outcome.path});
}

// Work from an autosave still counts as unsaved; the file stays until this process has written its own.
void FileJobs::adopt(const std::string& leftover) {
    for (auto offer = offers_.begin(); offer != offers_.end(); ++offer) {
        if (offer->leftover.path != leftover) continue;
        keeper_.adopt(std::move(offer->leftover));
        offers_.erase(offer);
        return;
    }
}

}  // namespace decoderscope::core
