// Bytes as text: RFC 4648's own examples in both alphabets, and everything that is not exactly such a text.
#include "engine/base/base64.h"
#include "tests/catch.h"

#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

using Examples = std::vector<std::pair<std::string, std::string>>;

void check(const Examples& examples, Base64 alphabet) {
    for (const auto& [bytes, text] : examples) {
        INFO(text);
        CHECK(base64(bytes, alphabet) == text);
        CHECK(bytes_of_base64(text, alphabet) == bytes);
    }
}

}  // namespace

TEST_CASE("the examples of RFC 4648, for URLs without their padding") {
    check({{"", ""},
           {"f", "Zg"},
           {"fo", "Zm8"},
           {"foo", "Zm9v"},
           {"foob", "Zm9vYg"},
           {"fooba", "Zm9vYmE"},
           {"foobar", "Zm9vYmFy"},
           {"\xfb\xff\xbf", "-_-_"},
           {std::string("\0\0", 2), "AAA"}},
          Base64::url);
    check({{"", ""},
           {"f", "Zg=="},
           {"fo", "Zm8="},
           {"foo", "Zm9v"},
           {"foob", "Zm9vYg=="},
           {"fooba", "Zm9vYmE="},
           {"foobar", "Zm9vYmFy"},
           {"\xfb\xff\xbf", "+/+/"},
           {std::string("\0\0", 2), "AAA="}},
          Base64::standard);
}

TEST_CASE("padding may be missing, but is not anything else") {
    CHECK(bytes_of_base64("Zm9vYg") == "foob");
    CHECK(bytes_of_base64("Zm8") == "fo");
}

TEST_CASE("what no bytes are written as is refused") {
    for (const char* text : {"Z", "Zm9vY", "Zh", "Zm9", "Zg==", "Zm 9v", "+/8", "Zm9v\n", "ü"}) {
        INFO(text);
        CHECK_FALSE(bytes_of_base64(text, Base64::url));
    }
    for (const char* text : {"Z", "Z===", "Zh==", "Zg=", "Zg==Zg==", "=", "====", "Zm9v=", "-_-_", "Zm9v\n", "ü"}) {
        INFO(text);
        CHECK_FALSE(bytes_of_base64(text));
    }
}
