// The cache of derived values, on plain objects.
#include "app/core/derived/derived.h"
#include "tests/catch.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace decoderscope;
using namespace std::chrono_literals;

namespace {

using Thing = std::shared_ptr<const int>;

struct Answer {
    std::string text;
};
struct Other {
    std::string text;
};
struct Single {
    static constexpr std::size_t kKept = 1;
    Thing of;
};

// Work of so many slices; how many are left is seen from outside.
struct Slices {
    int* left;
    bool advance(int slice) { return (*left -= slice) <= 0; }
    [[nodiscard]] double progress() const { return 1.0 - *left / 3.0; }
};

// Asks as a view does, and counts how often the value was made.
struct Asked {
    Derived derived;
    int made = 0;

    Value<Answer> answer(const Thing& of, int place, const std::string& name = "a") {
        return derived.get<Answer>({of}, std::tie(place, name), [&] {
            ++made;
            return Answer{name + std::to_string(*of + place)};
        });
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) derived.next_frame();
    }
};

}  // namespace

TEST_CASE("the same origin and key give the same object, and nothing is made again") {
    Asked asked;
    const Thing run = std::make_shared<int>(7);
    const Value<Answer> first = asked.answer(run, 1);
    CHECK(first->text == "a8");
    asked.frames(1);
    const Value<Answer> again = asked.answer(run, 1);
    CHECK(&*again == &*first);
    CHECK(again.number() == first.number());
    CHECK(asked.made == 1);
}

TEST_CASE("another origin, place, name or type is another value with another number") {
    Asked asked;
    const Thing run = std::make_shared<int>(7), same_content = std::make_shared<int>(7);
    const auto first = asked.answer(run, 1);
    std::vector<std::uint64_t> numbers = {first.number(), asked.answer(same_content, 1).number(),
                                          asked.answer(run, 2).number(), asked.answer(run, 1, "b").number()};
    const int place = 1;
    const std::string name = "a";
    const auto other = asked.derived.get<Other>({run}, std::tie(place, name), [] { return Other{"other"}; });
    CHECK(other->text == "other");
    numbers.push_back(other.number());
    std::sort(numbers.begin(), numbers.end());
    CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
    CHECK(asked.made == 4);
}

TEST_CASE("the values of a run that is freed are dropped, but for those that are still held") {
    Asked asked;
    Thing run = std::make_shared<int>(7);
    const Value<Answer> held = asked.answer(run, 1);
    CHECK(asked.answer(run, 2)->text == "a9");
    asked.frames(2);
    CHECK(asked.derived.size() == 2);  // the run is there
    run.reset();
    asked.frames(1);
    CHECK(asked.derived.size() == 0);
    CHECK(held->text == "a8");
}

TEST_CASE("a new run at the address of one that was freed is not taken for it") {
    Asked asked;
    auto place = std::make_unique<int>(7);
    const auto at_the_same_address = [&] { return Thing(place.get(), [](const int*) {}); };
    CHECK(asked.answer(at_the_same_address(), 1)->text == "a8");
    *place = 100;
    CHECK(asked.answer(at_the_same_address(), 1)->text == "a101");
    CHECK(asked.made == 2);
}

TEST_CASE("the least recently used goes first, and what the last frame asked for stays") {
    Asked asked;
    const Thing run = std::make_shared<int>(0);
    for (int place = 0; place < 20; ++place) CHECK(asked.answer(run, place));
    asked.frames(1);
    CHECK(asked.derived.size() == 20);  // all of them were asked for in one frame
    CHECK(asked.answer(run, 0));        // the oldest is used again
    asked.frames(1);
    CHECK(asked.derived.size() == 16);
    CHECK(asked.answer(run, 0));
    CHECK(asked.made == 20);
    CHECK(asked.answer(run, 5));
    CHECK(asked.made == 20);
    CHECK(asked.answer(run, 4));  // 1 to 4 are gone
    CHECK(asked.made == 21);
}

TEST_CASE("a type says how many of it are kept, and the one used last can be taken over from") {
    Derived derived;
    const Thing first = std::make_shared<int>(1), second = std::make_shared<int>(2);
    const auto ask = [&](const Thing& of) {
        return derived.get<Single>({of}, std::tuple<>(), [&] { return Single{of}; });
    };
    CHECK_FALSE(derived.latest<Single>(std::tuple<>()));
    CHECK(ask(first));
    CHECK(derived.latest<Single>(std::tuple<>())->of == first);
    derived.next_frame();
    CHECK(ask(second));
    CHECK(derived.latest<Single>(std::tuple<>())->of == second);
    derived.next_frame();
    CHECK(derived.size() == 1);
    CHECK(first.use_count() == 1);
}

TEST_CASE("a value that takes several frames goes on once a frame, and asks for another one") {
    Derived derived;
    const Thing run = std::make_shared<int>(0);
    int left = 3, begun = 0;
    const auto ask = [&] {
        return derived.later<Answer>({run}, std::tuple<>(), [&] {
            ++begun;
            return made_in_slices<Answer>(std::make_unique<Slices>(Slices{&left}), 1,
                                          [](const Slices&) { return Answer{"done"}; });
        });
    };
    derived.next_frame();
    CHECK_FALSE(ask());
    CHECK_FALSE(ask());  // in the same frame: no further
    CHECK(left == 2);
    CHECK(derived.waiting());
    CHECK(derived.progress<Answer>({run}, std::tuple<>()) == Approx(1 / 3.0));
    derived.next_frame();
    CHECK_FALSE(derived.waiting());
    CHECK_FALSE(ask());
    derived.next_frame();
    REQUIRE(ask());
    CHECK(ask()->text == "done");
    CHECK_FALSE(derived.waiting());
    CHECK(begun == 1);
}

TEST_CASE("slices that are no longer asked for are dropped, and begun anew") {
    Derived derived;
    const Thing run = std::make_shared<int>(0);
    int left = 3, begun = 0;
    const auto ask = [&] {
        return derived.later<Answer>({run}, std::tuple<>(), [&] {
            ++begun;
            return made_in_slices<Answer>(std::make_unique<Slices>(Slices{&left}), 1,
                                          [](const Slices&) { return Answer{}; });
        });
    };
    derived.next_frame();
    CHECK_FALSE(ask());
    derived.next_frame();
    derived.next_frame();
    CHECK(derived.size() == 0);
    CHECK_FALSE(ask());
    CHECK(begun == 2);
}

TEST_CASE("what is small is there at once; what isn't comes from a thread, one at a time") {
    Derived derived;
    const Thing first = std::make_shared<int>(1), second = std::make_shared<int>(2);
    std::atomic<bool> may_end = false;
    const auto ask = [&](const Thing& of, bool small) {
        return derived.later<Answer>({of}, std::tuple<>(), [&] {
            return made_beside<Answer>(small, [&may_end, small, number = *of] {
                while (!small && !may_end) std::this_thread::sleep_for(1ms);
                return Answer{std::to_string(number)};
            });
        });
    };
    REQUIRE(ask(second, true));
    const Thing third = std::make_shared<int>(3);
    CHECK_FALSE(ask(first, false));
    CHECK_FALSE(ask(third, true));  // it would be at once, but waits for the thread
    derived.next_frame();
    derived.next_frame();  // not dropped, although it isn't asked for
    may_end = true;
    for (int i = 0; i < 5000 && !ask(first, false); ++i) {
        std::this_thread::sleep_for(1ms);
        derived.next_frame();
    }
    REQUIRE(ask(first, false));
    CHECK(ask(first, false)->text == "1");
    CHECK(ask(third, true)->text == "3");
}
