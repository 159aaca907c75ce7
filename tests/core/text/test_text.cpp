// Counting and wrapping.
#include "app/core/text/counting.h"
#include "app/core/text/wrapping.h"
#include "tests/catch.h"

using namespace decoderscope;
using Lines = std::vector<std::string>;

TEST_CASE("numbers have their thousands apart, and one thing no plural") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped(-123) == "-123");
    CHECK(grouped(-1234) == "-1,234");
    CHECK(counted_rows(1).english() == "1 row");
    CHECK(counted_rows(0).english() == "0 rows");
    CHECK(counted_rows(2304).english() == "2,304 rows");
}

TEST_CASE("a text is broken at spaces, by the width that it is measured with") {
    const auto letters = [](const std::string& line) { return line.size(); };
    CHECK(wrapped("", std::size_t{5}, letters).empty());
    CHECK(wrapped("one two three", std::size_t{7}, letters) == Lines{"one two", "three"});
    CHECK(wrapped("one two three", std::size_t{6}, letters) == Lines{"one", "two", "three"});
    CHECK(wrapped("a considerable word", std::size_t{4}, letters) == Lines{"a", "considerable", "word"});
    CHECK(wrapped("one two three", std::size_t{3}, letters, 2) == Lines{"one", "two three"});
}
