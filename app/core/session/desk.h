#pragma once

#include "app/core/export/exporter.h"
#include "app/core/session/command.h"
#include "app/core/session/cursor.h"
#include "app/core/session/model_loader.h"
#include "app/core/work/session_keeper.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A sentence for the person.
struct Message {
    std::string text;
    bool failed = false;
};

// A model on its way: it is being read, or something has to be answered first, or it failed.
struct Opening {
    std::string name;   // a bundled model's, or the path, which may be a session's
    Overrides answers;  // that were given to what its files don't say
    bool reading = true;
    std::chrono::steady_clock::time_point since;
    std::optional<Recognised> asks;  // what it is, as far as can be seen, and what has to be answered
    std::string error;               // why it can't be opened; a sentence
    std::string python;              // what turns the file into one that can, where that is known
};

// The autosave of a process that is gone, in a few words.
struct Offer {
    Leftover leftover;
    std::string text;  // "reverse, 3 edits"
};

// What passes between the program and its files, and what it tells the person: models and sessions that are read, work
// that is saved and autosaved, what is exported.
class Desk {
public:
    // `wake` is called, from another thread where there are any, when something new is there.
    explicit Desk(const std::function<void()>& wake) : loader_(wake), exporter_(wake), keeper_(wake) {}

    // ---- what is opened

    void open(const command::OpenModel& command);
    void open(const command::OpenSession& command);
    void stop_opening();
    // The model that is to take this one's place; nothing once it did.
    [[nodiscard]] const std::optional<Opening>& opening() const { return opening_; }
    [[nodiscard]] bool reading() const { return opening_ && opening_->reading; }
    [[nodiscard]] ModelLoader::Progress opening_progress() const { return loader_.progress(); }
    // What was read, or why nothing can be; once. Waits for it, but not longer than `patience`.
    [[nodiscard]] std::optional<ModelLoader::Result> collect_read(std::chrono::milliseconds patience);
    // Says what is missing; false where nothing is: the result is to be run.
    [[nodiscard]] bool is_missing_something(const ModelLoader::Result& result);
    // It was read and can't be run.
    void refuse(const std::string& error);
    // It is being run; run_is_there() gives it back once.
    void run(const ModelLoader::Result& result);
    [[nodiscard]] std::optional<ModelLoader::Result> run_is_there();
    // It failed when it was run.
    void forget_opened() { opened_.reset(); }
    // The window's part of a session that was opened; given once.
    void set_view(const SavedView& view) { opened_view_ = view; }
    [[nodiscard]] std::optional<SavedView> take_view() { return std::exchange(opened_view_, std::nullopt); }

    // ---- what is saved

    // From now on unsaved work is autosaved into this folder, and what is left there is offered.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay);
    [[nodiscard]] const Offer* offer() const { return offers_.empty() ? nullptr : &offers_.front(); }
    void discard_offer();
    void save(SavedWork work, const std::string& path, std::uint64_t changes);
    // As of which change, and where the person looks: what an autosave holds.
    struct Kept {
        std::uint64_t changes = 0;
        Cursor cursor;
        SavedView view;
        bool operator==(const Kept&) const = default;
    };
    // Whether this is to be autosaved.
    [[nodiscard]] bool wants(const Kept& now) const;
    void keep(SavedWork work, Kept now);
    // The work is that of this file, or of none: it is safe there as of so many changes.
    void set_file(std::string file) { file_ = std::move(file); }
    void set_saved(std::uint64_t changes);
    // The work goes on with an autosave of a process that is gone.
    void adopt(const std::string& leftover);
    void end(bool by_the_person);
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::uint64_t saved_changes() const { return saved_changes_; }
    [[nodiscard]] std::uint64_t autosaved_changes() const { return autosaved_changes_; }

    // ---- what is exported, and what is told

    void export_exhibit(Exporter::Order order) { exporter_.start(std::move(order)); }
    void stop_export() { exporter_.stop(); }
    [[nodiscard]] std::optional<Exporter::Progress> exporting() const { return exporter_.progress(); }
    void tell(Message message) { message_ = std::move(message); }
    void tell_nothing() { message_.reset(); }
    [[nodiscard]] const std::optional<Message>& message() const { return message_; }

    // Takes over what was exported and written. `changes`: of the work.
    void collect(std::uint64_t changes);
    void finish_saving() { keeper_.wait(); }
    void finish_exports() { exporter_.finish(); }

    // Without threads, as JobRunner has them.
    void advance_saving(JobRunner::Clock::time_point until) { keeper_.advance(until); }
    void advance_others(JobRunner::Clock::time_point until);
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;

private:
    void take(const SessionKeeper::Outcome& outcome, std::uint64_t changes);

    ModelLoader loader_;
    Exporter exporter_;
    SessionKeeper keeper_;
    std::optional<Opening> opening_;
    std::optional<ModelLoader::Result> opened_;  // what was read, until its first run is there
    std::optional<SavedView> opened_view_;
    std::vector<Offer> offers_;
    std::string file_;
    std::uint64_t saved_changes_ = 0, autosaved_changes_ = 0;
    std::optional<Kept> kept_;   // as of the last autosave
    std::string keeping_error_;  // why it could not be written
    std::optional<Message> message_;
};

}  // namespace decoderscope
