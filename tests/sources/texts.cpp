#include "tests/sources/texts.h"

#include "tests/engine/temporary_folder.h"

#include <filesystem>

namespace decoderscope::testing {

namespace fs = std::filesystem;

Texts texts_in(std::initializer_list<const char*> folders) {
    const fs::path root = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();
    Texts texts;
    for (const char* folder : folders) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
            texts[entry.path().lexically_relative(root).generic_string()] = read_bytes(entry.path().string());
        }
    }
    return texts;
}

}  // namespace decoderscope::testing
