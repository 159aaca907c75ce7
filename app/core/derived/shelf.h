#pragma once

#include "app/core/derived/origins.h"
#include "app/core/jobs/job.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// The parts of Derived: what it keeps for one type.
namespace decoderscope {

// A value as handed out: it lives as long as the handle. Empty if it isn't ready yet.
template <class T>
class Value {
public:
    Value() = default;
    Value(std::shared_ptr<const T> value, std::uint64_t number) : value_(std::move(value)), number_(number) {}

    explicit operator bool() const { return value_ != nullptr; }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }
    // Different for any two values, of whatever type: identifies a texture made from one. Never 0 for a value.
    [[nodiscard]] std::uint64_t number() const { return number_; }

private:
    std::shared_ptr<const T> value_;
    std::uint64_t number_ = 0;
};

class ShelfBase {
public:
    ShelfBase() = default;
    virtual ~ShelfBase() = default;
    ShelfBase(const ShelfBase&) = delete;
    ShelfBase& operator=(const ShelfBase&) = delete;

    // Drops what isn't needed; anything used after `since` is needed.
    virtual void tidy(std::uint64_t since) = 0;
    // Waits for what is under way.
    virtual void finish() = 0;
    // Without threads, as JobRunner has it.
    virtual void advance(JobRunner::Clock::time_point until) = 0;
    [[nodiscard]] virtual std::optional<JobRunner::Clock::time_point> due() const = 0;
    [[nodiscard]] virtual std::size_t size() const = 0;
};

// The values of one type under one type of key. `used` is a time of the cache's clock.
template <class T, class Key>
class Shelf : public ShelfBase {
public:
    template <class Asked>
    Value<T> find(const Origins& of, const Asked& key, std::uint64_t used) {
        Entry* entry = entry_of(of, key);
        if (entry == nullptr) return {};
        entry->used = used;
        return entry->value;
    }

    template <class Asked>
    Value<T> put(const Origins& of, const Asked& key, T value, std::uint64_t used) {
        entries_.push_back({HeldOrigins(of), Key(key), as_value(std::move(value), used), used});
        return entries_.back().value;
    }

    // Begins a value that takes long, unless one is under way. Its first slice runs here, so that small values are
    // ready at once. The job does the rest.
    template <class Asked, class Begin>
    Value<T> begin(const Origins& of, const Asked& key, Begin&& make, std::uint64_t used) {
        if (under_way_) return {};
        auto work = std::make_shared<Resumable<T>>(make());
        if (work->advance()) return put(of, key, work->result(), used);
        under_way_.emplace(HeldOrigins(of), Key(key), used);
        job_.start([work](const std::stop_token&) { return rest_of(work); });
        return {};
    }

    // Takes over the job's result once it is finished; without threads, after another slice of it. Rethrows what the
    // work threw.
    void go_on(std::uint64_t used) {
        if (!under_way_) return;
        job_.advance(JobRunner::Clock::now());
        std::optional<T> made;
        try {
            made = job_.collect();
        } catch (...) {  // what the work threw is reported once
            under_way_.reset();
            throw;
        }
        if (!made) return;
        entries_.push_back(
            {std::move(under_way_->of), std::move(under_way_->key), as_value(std::move(*made), used), used});
        under_way_.reset();
    }

    // Whether this value is under way; if so, it counts as asked for.
    template <class Asked>
    [[nodiscard]] bool is_under_way(const Origins& of, const Asked& key, std::uint64_t used) {
        if (!under_way_ || !(under_way_->of == of) || !(under_way_->key == key)) return false;
        under_way_->used = used;
        return true;
    }

    template <class Asked>
    [[nodiscard]] Value<T> latest(const Asked& key) const {
        const Entry* last = nullptr;
        for (const Entry& entry : entries_)
            if (entry.key == key && (last == nullptr || entry.used > last->used)) last = &entry;
        return last != nullptr ? last->value : Value<T>();
    }

    void tidy(std::uint64_t since) override {
        if (under_way_ && under_way_->used <= since) {
            job_.forget();
            under_way_.reset();
        }
        std::erase_if(entries_, [](const Entry& entry) { return entry.of.gone(); });
        if (entries_.size() <= kept()) return;
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
        std::size_t place = 0;
        std::erase_if(entries_, [&](const Entry& entry) { return ++place > kept() && entry.used <= since; });
    }

    void finish() override { job_.finish(); }
    void advance(JobRunner::Clock::time_point until) override { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const override { return job_.due(); }

    [[nodiscard]] std::size_t size() const override { return entries_.size() + (under_way_ ? 1 : 0); }

private:
    struct Entry {
        HeldOrigins of;
        Key key;
        Value<T> value;
        std::uint64_t used = 0;
    };
    struct UnderWay {
        UnderWay(HeldOrigins its_origins, Key its_key, std::uint64_t used_then)
            : of(std::move(its_origins)), key(std::move(its_key)), used(used_then) {}
        HeldOrigins of;
        Key key;
        std::uint64_t used;
    };

    // `work` has begun.
    static Resumable<T> rest_of(std::shared_ptr<Resumable<T>> work) {
        while (!work->advance()) co_yield kPause;
        co_return work->result();
    }

    static constexpr std::size_t kept() {
        if constexpr (requires { T::kKept; })
            return T::kKept;
        else
            return 16;
    }

    static Value<T> as_value(T value, std::uint64_t number) {
        return {std::make_shared<const T>(std::move(value)), number};
    }

    template <class Asked>
    Entry* entry_of(const Origins& of, const Asked& key) {
        for (Entry& entry : entries_)
            if (entry.of == of && entry.key == key) return &entry;
        return nullptr;
    }

    std::vector<Entry> entries_;
    std::optional<UnderWay> under_way_;  // what the job is working on
    Job<T> job_;
};

}  // namespace decoderscope
