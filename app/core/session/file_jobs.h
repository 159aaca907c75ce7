#pragma once

#include "app/core/figure/export.h"
#include "app/core/files/session_keeper.h"
#include "app/core/run/cursor.h"
#include "app/core/session/command.h"
#include "app/core/session/model_loader.h"
#include "engine/base/message.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core {

// A sentence for the user.
struct Message {
    Sentence text;
    bool failed = false;
    std::string path;        // absolute, of the file that was written; empty if none was
    std::size_t number = 0;  // how many were told before
};

// A model being opened: it is being read, or has open questions, or failed.
struct Opening {
    std::string name;              // a bundled model's, or the path, which may be a session's
    Overrides answers;             // given so far to what its files don't say
    load::names::Mapping mapping;  // given for its tensors
    OpenAs as = OpenAs::whatever_it_is;
    bool reading = true;
    std::chrono::steady_clock::time_point since;
    std::optional<load::Recognised> asks;  // what was recognised, and the open questions
    Sentence error;                        // why it can't be opened; a sentence
    std::string python;                    // what converts the file into one that can, if known
};

// The autosave of a process that has ended, in a few words.
struct Offer {
    files::Leftover leftover;
    Sentence text;  // "reverse, 3 edits, a changed input, from 20 Nov, 14:03"
};

// Everything between the program and its files: models and sessions being read, saves and autosaves, exports; and the
// message for the user.
class FileJobs {
public:
    // `wake` is called when there is something new, from another thread if there are threads.
    explicit FileJobs(const std::function<void()>& wake)
        : loader_(wake), traces_(wake), models_(wake), exporter_(wake), keeper_(wake) {}

    // ---- what is opened

    void open(const command::OpenModel& command);
    void open(const command::OpenSession& command);
    // Throws Error if the text isn't a link, or if the link is damaged.
    void open(const command::OpenLink& command);
    // The questions of a model that was opened without a config.json, with its answers; nothing for others.
    void ask_again(const load::Model& model);
    void stop_opening();
    // The model that is to replace this one; nothing once it has done so.
    [[nodiscard]] const std::optional<Opening>& opening() const { return opening_; }
    [[nodiscard]] bool reading() const { return opening_ && opening_->reading; }
    [[nodiscard]] ModelLoader::Progress opening_progress() const { return loader_.progress(); }
    // The model read, or why it can't be; returned once. Waits for it, but no longer than `patience`.
    [[nodiscard]] std::optional<ModelLoader::Result> collect_read(std::chrono::milliseconds patience);
    // Reports what is missing. Returns false if nothing is: the result can be run.
    [[nodiscard]] bool is_missing_something(const ModelLoader::Result& result);
    // The model was read but can't be run.
    void refuse(const Sentence& error);
    // The model is being run; take_started_model() returns it once.
    void run(const ModelLoader::Result& result);
    [[nodiscard]] std::optional<ModelLoader::Result> take_started_model();
    [[nodiscard]] bool arriving() const { return opened_.has_value(); }
    // The model failed when run.
    void forget_opened() { opened_.reset(); }
    // The window's part of a session that was opened; given once.
    void set_view(const files::SavedView& view) { opened_view_ = view; }
    [[nodiscard]] std::optional<files::SavedView> take_view() { return std::exchange(opened_view_, std::nullopt); }

    // ---- what is compared with

    // Reads a trace; an empty path drops what is being read.
    void read_trace(const std::string& path);
    // Looks now and then whether it was saved again.
    void look_again() { traces_.look_again(); }
    // The trace that is being read; empty: none.
    [[nodiscard]] const std::string& trace_path() const { return traces_.path(); }
    // The trace read; returned once. A message says why one can't be; nullptr: the one before is no longer what its
    // file has.
    [[nodiscard]] std::optional<std::shared_ptr<const ReferenceRun>> collect_trace();

    // ---- what is saved

    void save_model(const command::SaveModel& command) { models_.start({command.model, command.path, command.open}); }
    // Whether a trace is being read or a model written; and waits for them.
    [[nodiscard]] bool transferring() const { return !traces_.path().empty() || models_.busy(); }
    void finish_transfers();
    // Autosaves unsaved work into this folder from now on, and offers what was left there.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay);
    [[nodiscard]] const Offer* offer() const { return offers_.empty() ? nullptr : &offers_.front(); }
    void discard_offer();
    void save(files::SavedSession work, const std::string& path, std::uint64_t changes);
    // What an autosave holds: as of which change, and where the user is.
    struct Kept {
        std::uint64_t changes = 0;
        Cursor cursor;
        files::SavedView view;
        bool operator==(const Kept&) const = default;
    };
    // Whether this should be autosaved.
    [[nodiscard]] bool wants(const Kept& now) const;
    void keep(files::SavedSession work, Kept now);
    // Nothing is unsaved any longer, for example after an undo: removes the autosave if there is one.
    void keep_nothing();
    // What is unsaved is left for other work: its autosave stays until the person ends the program.
    void leave_kept();
    // The file that holds the work (empty: none) and its checksum, and the change as of which it is saved there.
    void set_file(std::string file, std::string was = {}) {
        file_ = std::move(file);
        file_was_ = std::move(was);
    }
    void set_saved(std::uint64_t changes);
    // Continues the work of an autosave left by a process that has ended.
    void adopt(const std::string& leftover);
    void end(bool closed_by_user);
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& file_was() const { return file_was_; }
    // Whether another program has written to it since; it is read for that.
    [[nodiscard]] bool file_has_changed() const {
        return !file_.empty() && !keeper_.busy() && files::has_changed(file_, file_was_);
    }
    [[nodiscard]] std::uint64_t saved_changes() const { return saved_changes_; }
    [[nodiscard]] std::uint64_t autosaved_changes() const { return autosaved_changes_; }

    // ---- what is exported, and the message

    void export_exhibit(Exporter::Order order) { exporter_.start(std::move(order)); }
    void stop_export() { exporter_.stop(); }
    [[nodiscard]] std::optional<Exporter::Progress> exporting() const { return exporter_.progress(); }
    void tell(Message message) {
        message_ = std::move(message);
        message_->number = told_++;
    }
    void tell_nothing() { message_.reset(); }
    [[nodiscard]] const std::optional<Message>& message() const { return message_; }

    // Takes over finished exports and saves. `changes`: of the work.
    void collect(std::uint64_t changes);
    void finish_saving() { keeper_.wait(); }
    void finish_exports() { exporter_.finish(); }

    // Without threads, as JobRunner has them.
    void advance_saving(JobRunner::Clock::time_point until) { keeper_.advance(until); }
    void advance_others(JobRunner::Clock::time_point until);
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;

private:
    void take(const files::SessionKeeper::Outcome& outcome, std::uint64_t changes);
    void take(const ModelWriter::Result& written);

    ModelLoader loader_;
    TraceReader traces_;
    ModelWriter models_;
    Exporter exporter_;
    files::SessionKeeper keeper_;
    std::optional<Opening> opening_;
    std::optional<ModelLoader::Result> opened_;  // what was read, until its first run is there
    std::optional<files::SavedView> opened_view_;
    std::vector<Offer> offers_;
    std::string file_, file_was_;
    std::uint64_t saved_changes_ = 0, autosaved_changes_ = 0;
    std::optional<Kept> kept_;  // as of the last autosave
    Sentence keeping_error_;    // why it could not be written
    std::optional<Message> message_;
    std::size_t told_ = 0;
};

}  // namespace decoderscope::core
