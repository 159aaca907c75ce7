#pragma once

#include "engine/base/error.h"
#include "tests/catch.h"

#include <string>
#include <vector>

// The program's messages about bad input. A message is for the user: one line that names what is wrong and says what
// was expected. So the tests check for these words in it, not for the whole sentence.
namespace decoderscope::testing {

// The message of the Error that `work` throws; any other exception, or none, fails the test.
template <class Work>
std::string error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

inline void check_message(const std::string& message, const std::vector<std::string>& says) {
    INFO(message);
    CHECK(message != "(no error)");
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 5000);
    for (const std::string& part : says) {
        INFO("should say: " << part);
        CHECK(message.find(part) != std::string::npos);
    }
}

inline void check_message(const Sentence& message, const std::vector<std::string>& says) {
    check_message(message.english(), says);
}

}  // namespace decoderscope::testing
