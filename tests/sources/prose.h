#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

// The English of a file: a comment, a paragraph of a page outside its code, or a message of the window.
struct Paragraph {
    std::string text;                  // its lines, with a space between them
    std::vector<std::size_t> offsets;  // where each line begins in it
    std::size_t first_line = 0;        // in the file, from 1
    bool is_message = false;

    // The line of the file that a place in the text is on.
    [[nodiscard]] std::size_t line_at(std::size_t offset) const;
};

// The paragraphs of a file, by the ending of its path: C++ and JavaScript, CMake, shell and Python scripts, Markdown,
// and the window's messages. None for other files, and for translations.
[[nodiscard]] std::vector<Paragraph> paragraphs_of(std::string_view path, std::string_view text);

// All files of the repository, as paths from its root: what is built or downloaded is left out.
[[nodiscard]] std::set<std::string> files_of_repository();

}  // namespace decoderscope::testing
