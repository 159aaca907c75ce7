#pragma once

#include <iosfwd>
#include <string>

// The exercises of lessons in which a formula is written, outside the window: `lessons write`.
namespace decoderscope::cli {

struct WritingWanted {
    std::string exercise;  // "write/softmax": a lesson, and a question of it; "softmax", if one of the program's has it
    std::string language;  // of the replies
    std::string formula;
    std::string operands, numbers;  // files: what a function is given, by text and name; what it makes, by text
    bool json = false;
};

// Writes the operands, judges numbers or a formula, or says what is asked. Throws Error if the answer isn't right.
void write_exercise(const WritingWanted& wanted, std::ostream& out);

}  // namespace decoderscope::cli
