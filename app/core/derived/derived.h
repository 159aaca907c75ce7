#pragma once

#include "app/core/derived/shelf.h"
#include "engine/translate.h"

#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeindex>

namespace decoderscope {

// The one cache of values derived from runs: pictures, measures, comparisons. A value is identified by its origins
// (what it was made from; they never change), its type, and a key: a place, a step, an option. A view asks each frame
// and draws what it gets; it never decides when to measure.
//
// A value is made when it is first asked for. It is dropped once one of its origins is gone, or when it is the least
// recently used of its type and more than T::kKept (16 if T has no such member) are held. A value asked for in the last
// frame always stays. So a value should not hold its origins, unless few values are kept. All are dropped when the
// window's language changes, as many hold texts.
//
// T must be a type with a single purpose: two labs that both ask for a std::string would get each other's. Only the
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

    // The same for what may take longer than a frame: `begin()` returns a Resumable<T>, which owns what it reads. Its
    // first slice runs in the frame that asks; the rest is a job, dropped when a frame no longer asks for it. Empty
    // until it is done; waiting() then says that another frame is needed. One job per type: another value waits until
    // it is done or dropped.
    template <class T, class... Parts, class Begin>
    [[nodiscard]] Value<T> later(const Origins& of, const std::tuple<Parts...>& key, Begin&& begin) {
        auto& shelf = this->shelf<T, Key<Parts...>>();
        shelf.go_on(++clock_);
        Value<T> found = shelf.find(of, key, ++clock_);
        if (!found && !shelf.is_under_way(of, key, ++clock_)) found = shelf.begin(of, key, begin, ++clock_);
        waiting_ = waiting_ || !found;
        return found;
    }

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

    std::map<std::type_index, std::unique_ptr<ShelfBase>> shelves_;
    std::uint64_t clock_ = 0;  // counts requests, so that no two values have the same number
    std::uint64_t frame_began_ = 0;
    bool waiting_ = false;
    const Catalog* language_ = &spoken();  // that the values' texts are in
};

}  // namespace decoderscope
