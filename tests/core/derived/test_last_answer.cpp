#include "app/core/derived/derived.h"
#include "tests/catch.h"

#include <memory>
#include <string>

using namespace decoderscope::core;

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
