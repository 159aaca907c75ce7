#pragma once

namespace decoderscope::lessons {

// What is closed while a question is open, because it would give the answer away.
struct Withheld {
    bool diff = false, checks = false, configuration = false;
    bool operator==(const Withheld&) const = default;

    [[nodiscard]] bool anything() const { return diff || checks || configuration; }
};

}  // namespace decoderscope::lessons
