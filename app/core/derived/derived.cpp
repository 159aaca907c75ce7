#include "app/core/derived/derived.h"

#include <algorithm>
#include <exception>

namespace decoderscope::core {

namespace {

// `work` has begun. Its result stays in it: a job that was forgotten in its last slice has no other place for it.
Resumable<Done> rest_of(std::shared_ptr<DerivedWork> work) {
    while (!work->advance()) co_yield kPause;
    co_return Done{};
}

}  // namespace

Held Shelf::find(const ValueKey& asked, std::uint64_t used) {
    Entry* entry = entry_of(asked);
    if (entry == nullptr) return {};
    entry->used = used;
    return entry->value;
}

Held Shelf::put(const ValueKey& asked, std::shared_ptr<const void> value, std::uint64_t used) {
    entries_.push_back({HeldOrigins(asked.of()), asked.kept(), {std::move(value), used}, used, nullptr});
    return entries_.back().value;
}

Held Shelf::begin(const ValueKey& asked, const Begin& make, std::uint64_t used) {
    if (under_way_) return {};
    std::optional<Entry> left = std::exchange(left_, std::nullopt);
    if (left && left->is(asked)) {
        under_way_ = std::move(left);
        under_way_->used = used;
    } else {
        left.reset();
        std::shared_ptr<DerivedWork> work;
        try {
            work = make();
            if (work->advance()) return put(asked, work->result(), used);
        } catch (...) {
            put(asked, nullptr, used);
            throw;
        }
        under_way_ = {HeldOrigins(asked.of()), asked.kept(), {}, used, std::move(work)};
    }
    job_.start([work = under_way_->work](const std::stop_token&) { return rest_of(work); });
    return {};
}

void Shelf::go_on(std::uint64_t used) {
    if (!under_way_) return;
    job_.advance(JobRunner::Clock::now());
    Held value;
    std::exception_ptr thrown;
    try {
        if (!job_.collect()) return;
        value = {under_way_->work->result(), used};
    } catch (...) {
        thrown = std::current_exception();
    }
    entries_.push_back({std::move(under_way_->of), std::move(under_way_->key), value, used, nullptr});
    under_way_.reset();
    if (thrown) std::rethrow_exception(thrown);
}

bool Shelf::failed(const ValueKey& asked) {
    const Entry* entry = entry_of(asked);
    return entry != nullptr && !entry->value;
}

bool Shelf::is_under_way(const ValueKey& asked, std::uint64_t used) {
    if (!under_way_ || !under_way_->is(asked)) return false;
    under_way_->used = used;
    return true;
}

Held Shelf::latest(const ValueKey& asked) const {
    const Entry* last = nullptr;
    for (const Entry& entry : entries_)
        if (entry.value && asked.is(entry.key.get()) && (last == nullptr || entry.used > last->used)) last = &entry;
    return last != nullptr ? last->value : Held();
}

void Shelf::tidy(std::uint64_t since) {
    if (under_way_ && under_way_->used <= since) {
        job_.forget();
        if (goes_on_) left_ = std::move(under_way_);
        under_way_.reset();
    }
    std::erase_if(entries_, [](const Entry& entry) { return entry.of.gone(); });
    if (entries_.size() <= kept_) return;
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
    std::size_t place = 0;
    std::erase_if(entries_, [&](const Entry& entry) { return ++place > kept_ && entry.used <= since; });
}

Shelf::Entry* Shelf::entry_of(const ValueKey& asked) {
    for (Entry& entry : entries_)
        if (entry.is(asked)) return &entry;
    return nullptr;
}

Held Derived::later(Shelf& shelf, const ValueKey& asked, const Shelf::Begin& begin) {
    Held found;
    try {
        shelf.go_on(++clock_);
        found = shelf.find(asked, ++clock_);
        if (found || shelf.failed(asked)) return found;
        if (!shelf.is_under_way(asked, ++clock_)) found = shelf.begin(asked, begin, ++clock_);
    } catch (...) {
        failure_ = sentence_of_current();
    }
    waiting_ = waiting_ || !found;
    return found;
}

void Derived::next_frame() {
    if (language_ != &spoken()) shelves_.clear();
    language_ = &spoken();
    for (auto& [type, shelf] : shelves_) shelf.tidy(frame_began_);
    frame_began_ = clock_;
    waiting_ = false;
}

void Derived::forget_left() {
    for (auto& [type, shelf] : shelves_) shelf.forget_left();
}

void Derived::finish() {
    for (auto& [type, shelf] : shelves_) shelf.finish();
}

void Derived::advance(JobRunner::Clock::time_point until) {
    for (auto& [type, shelf] : shelves_) shelf.advance(until);
}

std::optional<JobRunner::Clock::time_point> Derived::due() const {
    std::optional<JobRunner::Clock::time_point> first;
    for (const auto& [type, shelf] : shelves_) first = earliest({first, shelf.due()});
    return first;
}

std::size_t Derived::size() const {
    std::size_t count = 0;
    for (const auto& [type, shelf] : shelves_) count += shelf.size();
    return count;
}

}  // namespace decoderscope::core
