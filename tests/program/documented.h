#pragma once

#include <string>
#include <vector>

// The commands that README, CONTRIBUTING and docs tell a person to type.
namespace decoderscope::testing {

struct DocumentedBlock {
    std::string where;               // "docs/bisect.md:46": its file and line, for messages
    std::vector<std::string> lines;  // a command each
};

// Every code block of commands: fenced as sh, or, without a language, one that begins with a program of `kPrograms` or
// of the repository. Blocks of other programs are fenced as sh.
[[nodiscard]] std::vector<DocumentedBlock> documented_blocks();

// Whether it starts the program, possibly after variables: "LANGUAGE=zh_CN decoderscope models".
[[nodiscard]] bool is_of_decoderscope(const std::string& line);

// The lines of a block as a person types them: with its placeholders filled in, and without what is optional.
[[nodiscard]] std::vector<std::string> typed(const std::vector<std::string>& lines);

// Makes the files that these lines read, and that none of them writes first, by what their names say they are.
void make_files_for(const std::vector<std::string>& lines, const std::string& folder);

}  // namespace decoderscope::testing
