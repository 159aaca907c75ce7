#pragma once

#include "app/core/jobs/job.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

// A value of whatever type; empty if it isn't ready yet.
class Held {
public:
    Held() = default;
    Held(std::shared_ptr<const void> value, std::uint64_t number) : value_(std::move(value)), number_(number) {}

    explicit operator bool() const { return value_ != nullptr; }
    // Different for any two values, of whatever type: identifies a texture made from one. Never 0 for a value.
    [[nodiscard]] std::uint64_t number() const { return number_; }

protected:
    [[nodiscard]] const void* value() const { return value_.get(); }

private:
    std::shared_ptr<const void> value_;
    std::uint64_t number_ = 0;
};

// A value as handed out: it lives as long as the handle.
template <class T>
class Value : public Held {
public:
    Value() = default;
    explicit Value(Held held) : Held(std::move(held)) {}

    const T& operator*() const { return *operator->(); }
    const T* operator->() const { return static_cast<const T*>(value()); }
};

// The parts of Derived: what it keeps for one type under one type of key, neither of which it knows, so that it is
// compiled once.

// What is asked for: its origins, and a key that is compared where it stands, and copied only to be kept.
class ValueKey {
public:
    template <class... Parts>
    ValueKey(const Origins& of, const std::tuple<Parts...>& key)
        : of_(of),
          key_(&key),
          is_([](const void* asked, const void* kept) {
              return *static_cast<const std::tuple<Parts...>*>(asked) == *static_cast<const Key<Parts...>*>(kept);
          }),
          keep_([](const void* asked) -> std::shared_ptr<const void> {
              return std::make_shared<const Key<Parts...>>(*static_cast<const std::tuple<Parts...>*>(asked));
          }) {}

    template <class... Parts>
    using Key = std::tuple<std::remove_cvref_t<Parts>...>;

    [[nodiscard]] const Origins& of() const { return of_; }
    [[nodiscard]] bool is(const void* kept) const { return is_(key_, kept); }
    [[nodiscard]] std::shared_ptr<const void> kept() const { return keep_(key_); }

private:
    const Origins& of_;
    const void* key_;
    bool (*is_)(const void* asked, const void* kept);
    std::shared_ptr<const void> (*keep_)(const void* asked);
};

// A Resumable<T> whose result is kept.
class DerivedWork {
public:
    DerivedWork() = default;
    virtual ~DerivedWork() = default;
    DerivedWork(const DerivedWork&) = delete;
    DerivedWork& operator=(const DerivedWork&) = delete;
    virtual bool advance() = 0;
    virtual std::shared_ptr<const void> result() = 0;
};

template <class T>
class DerivedWorkOf : public DerivedWork {
public:
    explicit DerivedWorkOf(Resumable<T> work) : work_(std::move(work)) {}
    bool advance() override { return work_.advance(); }
    std::shared_ptr<const void> result() override { return std::make_shared<const T>(work_.result()); }

private:
    Resumable<T> work_;
};

// `used` is a time of the cache's clock, and the number of a value that was made then.
class Shelf {
public:
    using Begin = std::function<std::shared_ptr<DerivedWork>()>;

    // Holds `kept` values that nobody asks for; `goes_on`: work that is left goes on when it is asked for again.
    Shelf(std::size_t kept, bool goes_on) : kept_(kept), goes_on_(goes_on) {}

    [[nodiscard]] Held find(const ValueKey& asked, std::uint64_t used);
    Held put(const ValueKey& asked, std::shared_ptr<const void> value, std::uint64_t used);
    // Begins a value that takes long, unless one is under way. Its first slice runs here, so that small values are
    // ready at once. The job does the rest.
    Held begin(const ValueKey& asked, const Begin& make, std::uint64_t used);
    // Takes over the work's result once the job has finished it; without threads, after another slice of it. What the
    // work threw is thrown once; the value then stays empty.
    void go_on(std::uint64_t used);
    // Whether its work threw.
    [[nodiscard]] bool failed(const ValueKey& asked);
    // Whether this value is under way; if so, it counts as asked for.
    [[nodiscard]] bool is_under_way(const ValueKey& asked, std::uint64_t used);
    // The most recently used with this key, of whatever origins.
    [[nodiscard]] Held latest(const ValueKey& asked) const;

    // Drops what isn't needed; anything used after `since` is needed.
    void tidy(std::uint64_t since);
    // Drops what was begun and left.
    void forget_left() { left_.reset(); }
    // Waits for what is under way.
    void finish() { job_.finish(); }
    // Without threads, as JobRunner has it.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }
    [[nodiscard]] std::size_t size() const { return entries_.size() + (under_way_ ? 1 : 0); }

private:
    struct Entry {
        HeldOrigins of;
        std::shared_ptr<const void> key;
        Held value;  // none if its work threw
        std::uint64_t used = 0;
        std::shared_ptr<DerivedWork> work;  // of what isn't done yet

        [[nodiscard]] bool is(const ValueKey& asked) const { return of == asked.of() && asked.is(key.get()); }
    };

    Entry* entry_of(const ValueKey& asked);

    std::size_t kept_;
    bool goes_on_;
    std::vector<Entry> entries_;
    std::optional<Entry> under_way_;  // what the job is working on
    std::optional<Entry> left_;       // what it had begun when nobody asked any more
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
        Shelf& shelf = this->shelf<T, Parts...>();
        const ValueKey asked(of, key);
        if (const Held found = shelf.find(asked, ++clock_)) return Value<T>(found);
        auto value = std::make_shared<const T>(make());  // may ask for other values
        return Value<T>(shelf.put(asked, std::move(value), ++clock_));
    }

    // As above, for what may take longer than a frame: `begin()` returns a Resumable<T>, which owns what it reads. Its
    // first slice runs in the frame that asks; the rest is a job, dropped when a frame no longer asks for it. Empty
    // until it is done; waiting() then says that another frame is needed. One job per type: another value waits until
    // it is done or dropped. It stays empty if the work throws (take_failure).
    template <class T, class... Parts, class Begin>
    [[nodiscard]] Value<T> later(const Origins& of, const std::tuple<Parts...>& key, Begin&& begin) {
        return Value<T>(later(shelf<T, Parts...>(), ValueKey(of, key),
                              [&begin] { return std::make_shared<DerivedWorkOf<T>>(begin()); }));
    }
    // Why a value could not be made, once.
    [[nodiscard]] Sentence take_failure() { return std::exchange(failure_, {}); }

    // The most recently used value with this key, whatever its origins: a new value may reuse parts of it. Empty if
    // there is none.
    template <class T, class... Parts>
    [[nodiscard]] Value<T> latest(const std::tuple<Parts...>& key) {
        return Value<T>(shelf<T, Parts...>().latest(ValueKey({}, key)));
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
    template <class T, class... Parts>
    Shelf& shelf() {
        std::size_t kept = 16;
        if constexpr (requires { T::kKept; }) kept = T::kKept;
        bool goes_on = false;
        if constexpr (requires { T::kGoesOn; }) goes_on = T::kGoesOn;
        return shelves_.try_emplace(typeid(std::pair<T, ValueKey::Key<Parts...>>*), kept, goes_on).first->second;
    }

    Held later(Shelf& shelf, const ValueKey& asked, const Shelf::Begin& begin);

    // Not ordered: MinGW's order of types contradicts itself where some are local to a file.
    std::unordered_map<std::type_index, Shelf> shelves_;
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
