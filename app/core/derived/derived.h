#pragma once

#include "app/core/jobs/job.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decoderscope::core {

inline constexpr std::size_t kMostOrigins = 3;

// What a derived value is computed from, mostly runs. A nullptr counts as an origin, too.
class Origins {
public:
    template <class... Held>
    requires(sizeof...(Held) <= kMostOrigins) Origins(const std::shared_ptr<Held>&... held)  // NOLINT: runs are origins
        : held_{held...} {}

    [[nodiscard]] const std::array<std::shared_ptr<const void>, kMostOrigins>& all() const { return held_; }

private:
    std::array<std::shared_ptr<const void>, kMostOrigins> held_;
};

// Origins that are remembered without keeping them alive. While this exists, no other object is mistaken for one of
// them, even at the same address.
class HeldOrigins {
public:
    explicit HeldOrigins(const Origins& of) {
        for (std::size_t i = 0; i < kMostOrigins; ++i) held_[i] = of.all()[i];
    }

    // Whether one of the origins has been freed.
    [[nodiscard]] bool gone() const {
        const std::weak_ptr<const void> none;
        for (const auto& held : held_)
            if (held.expired() && !same(held, none)) return true;
        return false;
    }

    bool operator==(const Origins& other) const {
        for (std::size_t i = 0; i < kMostOrigins; ++i)
            if (!same(held_[i], other.all()[i])) return false;
        return true;
    }

private:
    template <class A, class B>
    static bool same(const A& a, const B& b) {
        return !a.owner_before(b) && !b.owner_before(a);
    }

    std::array<std::weak_ptr<const void>, kMostOrigins> held_;
};

// The parts of Derived: what it keeps for one type.

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
    // Drops what was begun and left.
    virtual void forget_left() = 0;
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
        std::optional<UnderWay> left = std::exchange(left_, std::nullopt);
        if (left && left->is(of, key)) {
            under_way_ = std::move(left);
            under_way_->used = used;
        } else {
            left.reset();
            std::shared_ptr<Resumable<T>> work;
            try {
                work = std::make_shared<Resumable<T>>(make());
                if (work->advance()) return put(of, key, work->result(), used);
            } catch (...) {
                entries_.push_back({HeldOrigins(of), Key(key), {}, used});
                throw;
            }
            under_way_.emplace(HeldOrigins(of), Key(key), used, std::move(work));
        }
        job_.start([work = under_way_->work](const std::stop_token&) { return rest_of(work); });
        return {};
    }

    // Takes over the work's result once the job has finished it; without threads, after another slice of it. What the
    // work threw is thrown once; the value then stays empty.
    void go_on(std::uint64_t used) {
        if (!under_way_) return;
        job_.advance(JobRunner::Clock::now());
        Value<T> value;
        std::exception_ptr thrown;
        try {
            if (!job_.collect()) return;
            value = as_value(under_way_->work->result(), used);
        } catch (...) {
            thrown = std::current_exception();
        }
        entries_.push_back({std::move(under_way_->of), std::move(under_way_->key), value, used});
        under_way_.reset();
        if (thrown) std::rethrow_exception(thrown);
    }

    // Whether its work threw.
    template <class Asked>
    [[nodiscard]] bool failed(const Origins& of, const Asked& key) {
        const Entry* entry = entry_of(of, key);
        return entry != nullptr && !entry->value;
    }

    // Whether this value is under way; if so, it counts as asked for.
    template <class Asked>
    [[nodiscard]] bool is_under_way(const Origins& of, const Asked& key, std::uint64_t used) {
        if (!under_way_ || !under_way_->is(of, key)) return false;
        under_way_->used = used;
        return true;
    }

    template <class Asked>
    [[nodiscard]] Value<T> latest(const Asked& key) const {
        const Entry* last = nullptr;
        for (const Entry& entry : entries_)
            if (entry.key == key && entry.value && (last == nullptr || entry.used > last->used)) last = &entry;
        return last != nullptr ? last->value : Value<T>();
    }

    void tidy(std::uint64_t since) override {
        if (under_way_ && under_way_->used <= since) {
            job_.forget();
            if constexpr (goes_on()) left_ = std::move(under_way_);
            under_way_.reset();
        }
        std::erase_if(entries_, [](const Entry& entry) { return entry.of.gone(); });
        if (entries_.size() <= kept()) return;
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
        std::size_t place = 0;
        std::erase_if(entries_, [&](const Entry& entry) { return ++place > kept() && entry.used <= since; });
    }

    void forget_left() override { left_.reset(); }
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
        UnderWay(HeldOrigins its_origins, Key its_key, std::uint64_t used_then, std::shared_ptr<Resumable<T>> its_work)
            : of(std::move(its_origins)), key(std::move(its_key)), used(used_then), work(std::move(its_work)) {}
        HeldOrigins of;
        Key key;
        std::uint64_t used;
        std::shared_ptr<Resumable<T>> work;

        template <class Asked>
        [[nodiscard]] bool is(const Origins& its_origins, const Asked& its_key) const {
            return of == its_origins && key == its_key;
        }
    };

    // `work` has begun. Its result stays in it: a job that was forgotten in its last slice has no other place for it.
    static Resumable<Done> rest_of(std::shared_ptr<Resumable<T>> work) {
        while (!work->advance()) co_yield kPause;
        co_return Done{};
    }

    static constexpr std::size_t kept() {
        if constexpr (requires { T::kKept; })
            return T::kKept;
        else
            return 16;
    }

    static constexpr bool goes_on() {
        if constexpr (requires { T::kGoesOn; })
            return T::kGoesOn;
        else
            return false;
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
    std::optional<UnderWay> left_;       // what it had begun when nobody asked any more
    Job<Done> job_;
};

// The one cache of values derived from runs: pictures, measures, comparisons. A value is identified by its origins
// (what it was computed from; they never change), its type, and a key: a place, a step, an option. A view asks each
// frame and draws what it gets; it never decides when to measure.
//
// A value is made when it is first asked for. It is dropped once one of its origins is gone, or when it is the least
// recently used of its type and more than T::kKept (16 if T has no such member) are held. A value asked for in the last
// frame always stays. So a value should not hold its origins, unless few values are kept. All are dropped when the
// window's language changes, as many hold texts. Work that a frame no longer asks for is dropped; if T::kGoesOn, it
// goes on where it was when it is asked for again, until forget_left().
//
// T must be a type with a single purpose: two tabs that both ask for a std::string would get each other's. Only the
// window's thread may ask.
class Derived {
public:
    // The value; `make()` returns a T if it isn't cached yet. A hit builds no key: pass it by std::tie or as values.
    template <class T, class... Parts, class Make>
    [[nodiscard]] Value<T> get(const Origins& of, const std::tuple<Parts...>& key, Make&& make) {
        auto& shelf = this->shelf<T, Key<Parts...>>();
        if (Value<T> found = shelf.find(of, key, ++clock_)) return found;
        T value = make();  // may ask for other values
        return shelf.put(of, key, std::move(value), ++clock_);
    }

    // As above, for what may take longer than a frame: `begin()` returns a Resumable<T>, which owns what it reads. Its
    // first slice runs in the frame that asks; the rest is a job, dropped when a frame no longer asks for it. Empty
    // until it is done; waiting() then says that another frame is needed. One job per type: another value waits until
    // it is done or dropped. It stays empty if the work throws (take_failure).
    template <class T, class... Parts, class Begin>
    [[nodiscard]] Value<T> later(const Origins& of, const std::tuple<Parts...>& key, Begin&& begin) {
        auto& shelf = this->shelf<T, Key<Parts...>>();
        Value<T> found;
        try {
            shelf.go_on(++clock_);
            found = shelf.find(of, key, ++clock_);
            if (found || shelf.failed(of, key)) return found;
            if (!shelf.is_under_way(of, key, ++clock_)) found = shelf.begin(of, key, begin, ++clock_);
        } catch (...) {
            failure_ = sentence_of_current();
        }
        waiting_ = waiting_ || !found;
        return found;
    }
    // Why a value could not be made, once.
    [[nodiscard]] Sentence take_failure() { return std::exchange(failure_, {}); }

    // The most recently used value with this key, whatever its origins: a new value may reuse parts of it. Empty if
    // there is none.
    template <class T, class... Parts>
    [[nodiscard]] Value<T> latest(const std::tuple<Parts...>& key) {
        return shelf<T, Key<Parts...>>().latest(key);
    }

    // To be called before each frame: drops what is no longer needed.
    void next_frame();
    // Whether a value asked for in this frame isn't ready yet.
    [[nodiscard]] bool waiting() const { return waiting_; }
    // Drops work that was begun and is no longer asked for: it is about what isn't shown any more.
    void forget_left();
    // Waits for all jobs; the next request gets their values.
    void finish();
    // Without threads, as JobRunner has it: works on what is under way, beyond the slice of each frame; and when to.
    void advance(JobRunner::Clock::time_point until);
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;
    // How many values are held, including those under way.
    [[nodiscard]] std::size_t size() const;

private:
    template <class... Parts>
    using Key = std::tuple<std::remove_cvref_t<Parts>...>;

    template <class T, class K>
    Shelf<T, K>& shelf() {
        std::unique_ptr<ShelfBase>& found = shelves_[typeid(Shelf<T, K>)];
        if (!found) found = std::make_unique<Shelf<T, K>>();
        return static_cast<Shelf<T, K>&>(*found);
    }

    // Not ordered: MinGW's order of types contradicts itself where some are local to a file.
    std::unordered_map<std::type_index, std::unique_ptr<ShelfBase>> shelves_;
    std::uint64_t clock_ = 0;  // counts requests, so that no two values have the same number
    std::uint64_t frame_began_ = 0;
    bool waiting_ = false;
    Sentence failure_;
    const Catalog* language_ = &spoken();  // that the values' texts are in
};

// What a page shows while an answer may take longer than a frame: the answer, or, until it is there, the one before,
// with the question that it answers. The one before is stale: it is shown as such, and nothing in it acts.
template <class Question, class Answer>
class LastAnswer {
public:
    // To be called each frame, with the answer to what is asked now, empty while it is computed. `question()` is what
    // is needed to show that answer; asked for when it is new. What was shown of another `subject` (a model, a
    // training) is forgotten.
    template <class Subject, class MakeQuestion>
    void take(const std::shared_ptr<const Subject>& subject, const Value<Answer>& answer, MakeQuestion&& question) {
        if (subject_.owner_before(subject) || subject.owner_before(subject_)) *this = {};
        subject_ = subject;
        stale_ = !answer;
        if (!answer || answer.number() == answer_.number()) return;
        question_ = question();
        answer_ = answer;
    }

    // Whether there is something to show.
    explicit operator bool() const { return static_cast<bool>(answer_); }
    // Whether this answers a question other than the one asked now.
    [[nodiscard]] bool stale() const { return stale_; }
    [[nodiscard]] const Question& question() const { return question_; }
    [[nodiscard]] const Value<Answer>& answer() const { return answer_; }

private:
    std::weak_ptr<const void> subject_;
    Question question_{};
    Value<Answer> answer_;
    bool stale_ = false;
};

}  // namespace decoderscope::core
