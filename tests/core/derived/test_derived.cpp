// The cache of derived values, on plain objects.
#include "app/core/derived/derived.h"
#include "tests/catch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace decoderscope::testing;

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

// Asks as a view does, and counts how often the value was computed.
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

// A value whose computation takes until it is allowed to end.
Resumable<Answer> waited_for(Thing of, const std::atomic<bool>* may_end) {
    co_yield kPause;
    while (!*may_end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        co_yield kPause;
    }
    co_return Answer{std::to_string(*of)};
}

struct Slow {
    std::atomic<bool> may_end = false;
    int begun = 0;
    Derived derived;  // last: its job uses the rest

    Value<Answer> ask(const Thing& of) {
        return derived.later<Answer>({of}, std::tuple<>(), [&] {
            ++begun;
            return waited_for(of, &may_end);
        });
    }
};

}  // namespace

TEST_CASE("the same origin and key give the same object, and nothing is recomputed") {
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

TEST_CASE("what takes one slice is there at once") {
    Derived derived;
    const Thing run = std::make_shared<int>(5);
    const auto found = derived.later<Answer>(
        {run}, std::tuple<>(), [&] { return in_one_slice([run] { return Answer{std::to_string(*run)}; }); });
    REQUIRE(found);
    CHECK(found->text == "5");
    CHECK_FALSE(derived.waiting());
}

TEST_CASE("what takes longer is begun once, asks for another frame, and is there when it is done") {
    Slow slow;
    const Thing run = std::make_shared<int>(1);
    for (int frame = 0; frame < 3; ++frame) {
        slow.derived.next_frame();
        CHECK_FALSE(slow.derived.waiting());
        CHECK_FALSE(slow.ask(run));
        CHECK_FALSE(slow.ask(run));
        CHECK(slow.derived.waiting());
    }
    slow.may_end = true;
    slow.derived.finish();
    slow.derived.next_frame();
    REQUIRE(slow.ask(run));
    CHECK(slow.ask(run)->text == "1");
    CHECK_FALSE(slow.derived.waiting());
    CHECK(slow.begun == 1);
}

TEST_CASE("one job a type: another value waits until it is done") {
    Slow slow;
    const Thing first = std::make_shared<int>(1), second = std::make_shared<int>(2);
    CHECK_FALSE(slow.ask(first));
    CHECK_FALSE(slow.ask(second));
    CHECK(slow.begun == 1);
    slow.may_end = true;
    slow.derived.finish();
    REQUIRE(slow.ask(first));
    CHECK_FALSE(slow.ask(second));
    CHECK(slow.begun == 2);
    slow.derived.finish();
    REQUIRE(slow.ask(second));
    CHECK(slow.ask(second)->text == "2");
    CHECK(slow.ask(first)->text == "1");
}

TEST_CASE("a job that no frame asks for is dropped, and makes room for another") {
    Slow slow;
    const Thing first = std::make_shared<int>(1), second = std::make_shared<int>(2);
    slow.derived.next_frame();
    CHECK_FALSE(slow.ask(first));
    slow.derived.next_frame();
    CHECK_FALSE(slow.ask(second));  // the first is still known: the frame before this one asked for it
    slow.derived.next_frame();
    CHECK(slow.derived.size() == 0);
    CHECK_FALSE(slow.ask(second));
    CHECK(slow.begun == 2);
    slow.may_end = true;
    slow.derived.finish();
    REQUIRE(slow.ask(second));
    CHECK(slow.ask(second)->text == "2");
    CHECK_FALSE(slow.ask(first));  // its computation was cancelled
    CHECK(slow.begun == 3);
}

namespace {

struct Long {
    static constexpr bool kGoesOn = true;
    int slices = 0;
};

}  // namespace

TEST_CASE("long work that was left goes on where it was, until what it is about isn't shown any more") {
    std::atomic<bool> may_end = false;
    std::atomic<int> slices = 0;
    int begun = 0;
    Derived derived;
    const Thing run = std::make_shared<int>(1);
    const auto work = [&]() -> Resumable<Long> {
        co_yield kPause;
        while (!may_end) {
            ++slices;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            co_yield kPause;
        }
        co_return Long{slices};
    };
    const auto ask = [&] {
        return derived.later<Long>({run}, std::tuple<>(), [&] {
            ++begun;
            return work();
        });
    };
    const auto leave = [&] {
        for (int frame = 0; frame < 3; ++frame) derived.next_frame();
        derived.finish();
    };
    derived.next_frame();
    CHECK_FALSE(ask());
    while (slices < 3) derived.advance(JobRunner::Clock::now() + std::chrono::milliseconds(2));
    leave();
    const int before = slices;
    CHECK_FALSE(ask());
    CHECK(begun == 1);
    may_end = true;
    derived.finish();
    derived.next_frame();
    REQUIRE(ask());
    CHECK(ask()->slices >= before);
    CHECK(begun == 1);

    may_end = false;
    const Thing other = std::make_shared<int>(2);
    const auto ask_other = [&] {
        return derived.later<Long>({other}, std::tuple<>(), [&] {
            ++begun;
            return work();
        });
    };
    derived.next_frame();
    CHECK_FALSE(ask_other());
    leave();
    derived.forget_left();
    CHECK_FALSE(ask_other());
    CHECK(begun == 3);
    may_end = true;
    derived.finish();
}

TEST_CASE("long work that was left in its last slice has ended: its value is there, or what it threw is said") {
    const bool throws = GENERATE(false, true);
    std::atomic<bool> in_last_slice = false, may_end = false;
    int begun = 0;
    Derived derived;  // its job uses what stands before it
    const Thing run = std::make_shared<int>(1);
    const auto work = [&, window = std::this_thread::get_id()]() -> Resumable<Long> {
        co_yield kPause;
        in_last_slice = true;
        while (std::this_thread::get_id() != window && !may_end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (throws) throw std::runtime_error("wrong");
        co_return Long{42};
    };
    const auto ask = [&] {
        return derived.later<Long>({run}, std::tuple<>(), [&] {
            ++begun;
            return work();
        });
    };
    derived.next_frame();
    CHECK_FALSE(ask());
    while (!in_last_slice) derived.advance(JobRunner::Clock::now());
    for (int frame = 0; frame < 3; ++frame) derived.next_frame();  // that show something else
    may_end = true;
    derived.finish();
    Value<Long> value;
    Sentence failure;
    while (!value && failure.empty()) {
        derived.next_frame();
        value = ask();
        failure = derived.take_failure();
        derived.finish();
    }
    CHECK(begun == 1);
    CHECK(failure.empty() != throws);
    if (!throws) CHECK(value->slices == 42);
    for (int frame = 0; frame < 5; ++frame) derived.next_frame();
    CHECK(static_cast<bool>(ask()) != throws);
    CHECK(begun == 1);
}

namespace {

Value<int> answer(int number) {
    return Value<int>({std::make_shared<const int>(number), static_cast<std::uint64_t>(number)});
}

}  // namespace

TEST_CASE("until an answer is there the one before is shown with its question, as stale") {
    const auto model = std::make_shared<const std::string>("a model");
    LastAnswer<std::string, int> last;
    last.take(model, {}, [] { return "first"; });
    CHECK_FALSE(last);
    CHECK(last.stale());
    last.take(model, answer(7), [] { return "first"; });
    REQUIRE(last);
    CHECK_FALSE(last.stale());
    last.take(model, {}, [] { return "second"; });
    REQUIRE(last);
    CHECK(last.stale());
    CHECK(*last.answer() == 7);
    CHECK(last.question() == "first");
    last.take(model, answer(8), [] { return "second"; });
    CHECK_FALSE(last.stale());
    CHECK(*last.answer() == 8);
    CHECK(last.question() == "second");
}

TEST_CASE("what was shown of another model is forgotten, and nothing is kept of the model itself") {
    auto model = std::make_shared<const std::string>("a model");
    LastAnswer<std::string, int> last;
    last.take(model, answer(7), [] { return "of it"; });
    const auto other = std::make_shared<const std::string>("another");
    const std::weak_ptr<const std::string> watched = model;
    model.reset();
    CHECK(watched.expired());
    last.take(other, {}, [] { return "of the other"; });
    CHECK_FALSE(last);
}
