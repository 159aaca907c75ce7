// Bytes as characters that a URL can hold: RFC 4648's own examples, and everything that is not exactly such a text.
#include "app/core/text/base64.h"
#include "tests/catch.h"

#include <utility>
#include <vector>

using namespace decoderscope;

TEST_CASE("the examples of RFC 4648, without their padding") {
    const std::vector<std::pair<std::string, std::string>> examples = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xbf", "-_-_"}};
    for (const auto& [bytes, text] : examples) {
        INFO(text);
        CHECK(base64url(bytes) == text);
        CHECK(bytes_of_base64url(text) == bytes);
    }
    const std::string zeros("\0\0", 2);
    CHECK(base64url(zeros) == "AAA");
    CHECK(bytes_of_base64url("AAA") == zeros);
}

TEST_CASE("what no bytes are written as is refused") {
    for (const char* text : {"Z", "Zm9vY", "Zh", "Zm9", "Zg==", "Zm 9v", "+/8", "Zm9v\n", "ü"}) {
        INFO(text);
        CHECK_FALSE(bytes_of_base64url(text));
    }
}
