#include "app/core/files/session_keeper.h"

#include "engine/base/error.h"
#include "engine/platform/folders.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace decoderscope::core::files {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBeginning = "autosave-", kEnding = ".dscope", kLockEnding = ".lock";

// Everything that one process left: "…/autosave-123" and its files.
struct Remains {
    std::vector<fs::path> autosaves;  // none, or one
    std::vector<fs::path> others;     // half-written ones, and the lock
};

std::map<std::string, Remains> remains_in(const std::string& folder) {
    std::map<std::string, Remains> found;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(kBeginning)) continue;
        Remains& remains = found[(fs::path(folder) / name.substr(0, name.find('.'))).string()];
        (name.ends_with(kEnding) ? remains.autosaves : remains.others).push_back(at->path());
    }
    return found;
}

Resumable<ModelChecksums> sums_of(load::Opened opened) {
    ModelChecksums sums;
    try {
        const std::shared_ptr<const load::ModelInfo> about = load::about(opened);
        const std::string& path = about->path.empty() ? about->name : about->path;
        sums = co_await checksums_of_model(path, load::recorded(opened) != nullptr);
    } catch (const std::exception&) {
        sums = {};
    }
    co_return sums;
}

}  // namespace

std::string autosave_folder() {
    const std::string state = platform::state_folder();
    return state.empty() ? std::string() : (fs::path(state) / "decoderscope").string();
}

AutosaveSlot::AutosaveSlot(const std::string& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        throw Error("{folder}: cannot be created: {reason}", {{"folder", folder}, {"reason", failed.message()}});
    const std::string name =
        (fs::path(folder) / (std::string(kBeginning) + std::to_string(platform::process_number()))).string();
    for (int number = 0; !lock_; ++number) {
        const std::string stem = number == 0 ? name : name + "-" + std::to_string(number);
        path_ = stem + std::string(kEnding);
        lock_path_ = stem + std::string(kLockEnding);
        lock_ = platform::FileLock::take(lock_path_, failed);
        if (failed)
            throw Error("{path}: cannot be written: {reason}", {{"path", lock_path_}, {"reason", failed.message()}});
        if (fs::exists(path_, failed)) lock_.reset();  // a leftover of another process
    }
}

void AutosaveSlot::remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
}

AutosaveSlot::~AutosaveSlot() {
    std::error_code ignored;
    if (!fs::exists(path_, ignored)) fs::remove(lock_path_, ignored);
}

std::vector<Leftover> leftovers(const std::string& folder) {
    std::vector<Leftover> found;
    std::error_code failed;
    for (const auto& [stem, remains] : remains_in(folder)) {
        auto lock = platform::FileLock::take(stem + std::string(kLockEnding), failed);
        if (!lock) continue;  // the process still runs, or the folder can't be written
        for (const fs::path& other : remains.others)
            if (!other.string().ends_with(kLockEnding) || remains.autosaves.empty()) fs::remove(other, failed);
        if (remains.autosaves.empty()) continue;
        const fs::path& path = remains.autosaves.front();
        const auto when = std::chrono::file_clock::to_sys(fs::last_write_time(path, failed));
        found.push_back({path.string(), std::chrono::time_point_cast<std::chrono::seconds>(when), std::move(*lock)});
    }
    std::sort(found.begin(), found.end(), [](const Leftover& a, const Leftover& b) { return a.when > b.when; });
    return found;
}

void remove_leftover(const Leftover& leftover) {
    std::error_code ignored;
    fs::remove(leftover.path, ignored);
    fs::remove(leftover.path.substr(0, leftover.path.size() - kEnding.size()) + std::string(kLockEnding), ignored);
}

std::optional<ModelChecksums> ChecksumCache::find(const load::Opened& opened) {
    if (const auto known = known_.find(load::about(opened)); known != known_.end()) return known->second;
    if (std::find(asked_.begin(), asked_.end(), opened) == asked_.end()) asked_.push_back(opened);
    return std::nullopt;
}

bool ChecksumCache::advance() {
    if (asked_.empty()) return false;
    if (!under_way_) under_way_.emplace(sums_of(asked_.front()));
    if (!under_way_->advance()) return true;
    std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
    known_.emplace(load::about(asked_.front()), under_way_->result());
    under_way_.reset();
    asked_.erase(asked_.begin());
    return true;
}

SessionKeeper::SessionKeeper(std::function<void()> wake) : wake_(std::move(wake)) {}

SessionKeeper::~SessionKeeper() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        schedule();
    }
    wait();
}

void SessionKeeper::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
    auto slot = std::make_unique<AutosaveSlot>(folder);
    const std::lock_guard lock(mutex_);
    folder_ = folder;
    slot_ = std::move(slot);
    delay_ = delay;
}

void SessionKeeper::changed(SavedSession work, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (!slot_) return;
    if (!autosave_) autosave_due_ = Clock::now() + delay_;
    autosave_ = Order{std::move(work), slot_->path(), number, true};
    drop_ = false;
    schedule();
}

void SessionKeeper::drop_autosave() {
    const std::lock_guard lock(mutex_);
    if (!slot_) return;
    autosave_.reset();
    drop_ = true;
    schedule();
}

void SessionKeeper::leave_autosave() {
    constexpr std::size_t kMostLeft = 8;
    std::unique_ptr<AutosaveSlot> next;
    try {
        if (slot_) next = std::make_unique<AutosaveSlot>(folder_);
    } catch (const Error&) {
        return;  // the other work takes its place, as there is no room for another file
    }
    const std::lock_guard lock(mutex_);
    if (!slot_) return;
    if (std::exchange(drop_, false)) slot_->remove();
    if (autosave_) saves_.push_back(*std::exchange(autosave_, std::nullopt));
    left_.push_back(std::exchange(slot_, std::move(next)));
    if (left_.size() > kMostLeft) {
        left_.front()->remove();
        left_.erase(left_.begin());
    }
    schedule();
}

void SessionKeeper::drop_all() {
    drop_autosave();
    wait();
    for (const auto& slot : left_) slot->remove();
    left_.clear();
}

void SessionKeeper::adopt(Leftover leftover) {
    const std::lock_guard lock(mutex_);
    adopted_.push_back(std::move(leftover));
}

void SessionKeeper::save(SavedSession work, std::string path, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    saves_.push_back({std::move(work), std::move(path), number, false});
    schedule();
}

std::vector<SessionKeeper::Outcome> SessionKeeper::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcomes_, {});
}

void SessionKeeper::wait() {
    while (busy()) runner_.wait(std::chrono::milliseconds(1000), [this] { return !busy(); });
}

void SessionKeeper::flush() {
    {
        const std::lock_guard lock(mutex_);
        autosave_due_ = Clock::now();
        last_try_ = true;
        schedule();
    }
    const auto all = [this] { return !busy() && !autosave_waits_; };
    while (!all()) runner_.wait(std::chrono::milliseconds(1000), all);
}

// Call with the mutex held.
void SessionKeeper::count() {
    to_do_ = saves_.size() + (drop_ ? 1U : 0U) + (writing_ ? 1U : 0U);
    autosave_waits_ = autosave_.has_value();
}

// Has the runner do pending work when it is due. Call with the mutex held, so that of two concurrent calls the later
// one sees what the other scheduled.
void SessionKeeper::schedule() {
    count();
    const bool now = drop_ || !saves_.empty();
    if (!now && (!autosave_ || ending_)) return;
    runner_.start([this](const std::stop_token&) { return serve(); },
                  [this](const Sentence& error, const std::stop_token&) {
                      tell({{}, 0, false, error});
                  },
                  now ? Clock::now() : autosave_due_);
}

// ---- the runner's part

bool SessionKeeper::has_checksums(const SavedSession& work) {
    bool all = sums_.find(work.scenario.opened()).has_value();
    for (const PinnedWork& pin : work.pins) all = sums_.find(pin.scenario.opened()).has_value() && all;
    return all;
}

// The order to write now, if any. A save waits until its models' files have been checksummed, an autosave doesn't.
std::optional<SessionKeeper::Order> SessionKeeper::take_order() {
    const std::lock_guard lock(mutex_);
    const auto ready = std::find_if(saves_.begin(), saves_.end(), [&](const Order& save) {
        return ending_ || save.autosave || has_checksums(save.work);
    });
    std::optional<Order> order;
    if (ready != saves_.end()) {
        order = std::move(*ready);
        saves_.erase(ready);
    } else if (!ending_ && autosave_ && Clock::now() >= autosave_due_) {
        order = std::exchange(autosave_, std::nullopt);
    }
    writing_ = order.has_value();
    count();
    return order;
}

void SessionKeeper::drop_if_told() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(drop_, false)) return;
    slot_->remove();
}

Resumable<Done> SessionKeeper::serve() {
    for (;;) {
        drop_if_told();
        if (std::optional<Order> order = take_order()) {
            Outcome outcome = write(*order);
            if (order->autosave && !outcome.error.empty()) try_again(*std::move(order));
            tell(std::move(outcome));
        } else if (!sums_.advance()) {
            break;
        }
        co_yield kPause;
    }
    {
        const std::lock_guard lock(mutex_);
        schedule();  // an autosave that isn't due yet
    }
    runner_.notify();
    co_return Done{};
}

// Unless it has been dropped or there is a newer one since.
void SessionKeeper::try_again(Order order) {
    const std::lock_guard lock(mutex_);
    if (autosave_ || drop_ || last_try_ || order.path != slot_->path()) return;
    autosave_ = std::move(order);
    autosave_due_ = Clock::now() + std::max(delay_ * 5, std::chrono::milliseconds(50));
}

void SessionKeeper::tell(Outcome outcome) {
    bool wakes = false;
    {
        const std::lock_guard lock(mutex_);
        writing_ = false;
        count();
        outcomes_.push_back(std::move(outcome));
        wakes = wake_ && !ending_;
    }
    runner_.notify();
    if (wakes) wake_();
}

SessionKeeper::Outcome SessionKeeper::write(const Order& order) {
    Outcome outcome{order.path, order.number, order.autosave, {}};
    try {
        SessionFile file = session_file_of(order.work);
        if (!order.autosave) {  // a file does not name itself, and nothing of it is unsaved
            file.saved_as.clear();
            file.changed.clear();
        }
        const auto put = [&](SavedRun& run, const Scenario& of) {
            ModelChecksums sums = sums_.find(of.opened()).value_or(ModelChecksums());
            run.model.weights = std::move(sums.weights);
            run.model.config = std::move(sums.config);
        };
        put(file.run, order.work.scenario);
        for (std::size_t i = 0; i < file.pins.size(); ++i) put(file.pins[i].run, order.work.pins[i].scenario);
        outcome.checksum = write_session_file(order.path, file);
        forget_adopted();
    } catch (const std::exception& error) {
        outcome.error = sentence_of(error);
    }
    return outcome;
}

void SessionKeeper::forget_adopted() {
    const std::lock_guard lock(mutex_);
    for (const Leftover& leftover : adopted_) remove_leftover(leftover);
    adopted_.clear();
}

}  // namespace decoderscope::core::files
