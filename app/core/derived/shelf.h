#pragma once

#include "app/core/derived/making.h"
#include "app/core/derived/origins.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// The parts of Derived: what it keeps of one type.
namespace decoderscope {

// A value as it is handed out: it lives as long as the handle. Empty where it isn't there yet.
template <class T>
class Value {
public:
    Value() = default;
    Value(std::shared_ptr<const T> value, std::uint64_t number) : value_(std::move(value)), number_(number) {}

    explicit operator bool() const { return value_ != nullptr; }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }
    // Another number for another value, of whatever type: what a texture of it goes by. Never 0 for a value.
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

    // Drops what isn't needed; what was used after `since` is.
    virtual void tidy(std::uint64_t since) = 0;
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
        entries_.push_back({HeldOrigins(of), Key(key), as_value(std::move(value), used), nullptr, 0, used});
        return entries_.back().value;
    }

    // Begins a value that comes later. The thread, where it uses one, is then taken.
    template <class Asked>
    void begin(const Origins& of, const Asked& key, std::unique_ptr<Making<T>> making, std::uint64_t used) {
        entries_.push_back({HeldOrigins(of), Key(key), {}, std::move(making), 0, used});
    }

    // Goes on with it, once a frame; the value once it is done.
    template <class Asked>
    Value<T> advance(const Origins& of, const Asked& key, std::uint64_t frame, std::uint64_t used) {
        Entry* entry = entry_of(of, key);
        if (entry == nullptr || entry->advanced_in == frame) return {};
        entry->advanced_in = frame;
        go_on(*entry, used);
        return entry->value;
    }

    template <class Asked>
    [[nodiscard]] bool under_way(const Origins& of, const Asked& key) {
        const Entry* entry = entry_of(of, key);
        return entry != nullptr && entry->making;
    }

    [[nodiscard]] bool thread_is_taken() const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [](const Entry& entry) { return entry.making && entry.making->on_thread(); });
    }

    template <class Asked>
    [[nodiscard]] Value<T> latest(const Asked& key) const {
        const Entry* last = nullptr;
        for (const Entry& entry : entries_)
            if (entry.value && entry.key == key && (last == nullptr || entry.used > last->used)) last = &entry;
        return last != nullptr ? last->value : Value<T>();
    }

    template <class Asked>
    [[nodiscard]] double progress(const Origins& of, const Asked& key) {
        const Entry* entry = entry_of(of, key);
        return entry == nullptr ? 0.0 : entry->making ? entry->making->progress() : 1.0;
    }

    void tidy(std::uint64_t since) override {
        for (Entry& entry : entries_)
            if (entry.making && entry.making->on_thread()) go_on(entry, entry.used);
        std::erase_if(entries_, [&](const Entry& entry) {
            if (entry.making) return entry.used <= since && !entry.making->on_thread();
            return entry.of.gone();
        });
        if (entries_.size() <= kept()) return;
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
        std::size_t place = 0;
        std::erase_if(entries_,
                      [&](const Entry& entry) { return ++place > kept() && !entry.making && entry.used <= since; });
    }

    [[nodiscard]] std::size_t size() const override { return entries_.size(); }

private:
    struct Entry {
        HeldOrigins of;
        Key key;
        Value<T> value;                     // empty while it is being made
        std::unique_ptr<Making<T>> making;  // nullptr once it is there
        std::uint64_t advanced_in = 0;      // the frame
        std::uint64_t used = 0;
    };

    static constexpr std::size_t kept() {
        if constexpr (requires { T::kKept; })
            return T::kKept;
        else
            return 16;
    }

    static Value<T> as_value(T value, std::uint64_t number) {
        return {std::make_shared<const T>(std::move(value)), number};
    }

    static void go_on(Entry& entry, std::uint64_t number) {
        if (std::optional<T> made = entry.making->advance()) {
            entry.value = as_value(std::move(*made), number);
            entry.making.reset();
        }
    }

    template <class Asked>
    Entry* entry_of(const Origins& of, const Asked& key) {
        for (Entry& entry : entries_)
            if (entry.of == of && entry.key == key) return &entry;
        return nullptr;
    }

    std::vector<Entry> entries_;
};

}  // namespace decoderscope
