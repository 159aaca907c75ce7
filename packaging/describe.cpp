// Writes the manual page and the shells' completions into a folder: describe FOLDER
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "packaging/help_text.h"

#include <filesystem>
#include <iostream>

int main(int count, char** arguments) {
    using namespace decoderscope;
    if (count != 2) {
        std::cerr << "describe: expected one argument, the folder to write into\n";
        return 2;
    }
    try {
        const packaging::ProgramHelp help = packaging::program_help();
        const std::filesystem::path folder = arguments[1];
        std::error_code failed;
        std::filesystem::create_directories(folder, failed);
        const auto write = [&](const char* name, const std::string& text) {
            write_whole((folder / name).string(), [&](std::ostream& out) { out << text; });
        };
        write("decoderscope.1", packaging::manual_page(help));
        write("decoderscope.bash", packaging::bash_completion(help));
        write("_decoderscope", packaging::zsh_completion(help));
        write("decoderscope.fish", packaging::fish_completion(help));
    } catch (const Error& error) {
        std::cerr << "describe: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
