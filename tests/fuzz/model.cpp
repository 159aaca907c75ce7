// A model's folder: config.json, example.json, the index, weights, each a part of the input; an empty part means that
// the file is absent. With an empty config.json the weights are recognised by names and shapes, and the question for
// heads is answered with two.
#include "engine/load/model.h"
#include "tests/fuzz/fuzz.h"

#include <array>
#include <filesystem>

using namespace decoderscope;
using namespace decoderscope::load::names;
using namespace decoderscope::load;

namespace {

namespace fs = std::filesystem;

// A folder whose files are in memory.
class Folder {
public:
    Folder() : path_(fuzz::temporary_name()) { fuzz::require(fs::create_directory(path_), "a folder can be made"); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

    void fill(const std::vector<std::string_view>& parts) {
        for (std::size_t i = 0; i < kNames.size(); ++i) {
            const fs::path file = path_ / kNames[i];
            fs::remove(file);
            if (i >= parts.size() || parts[i].empty()) continue;
            files_[i].write(parts[i]);
            files_[i].put_at(file);
        }
    }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    static constexpr std::array<const char*, 5> kNames = {"config.json", "example.json", "model.safetensors.index.json",
                                                          "vocabulary.json", "model.safetensors"};
    fs::path path_;
    std::array<fuzz::MemoryFile, kNames.size()> files_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Folder folder;
    folder.fill(fuzz::parts_of(fuzz::text_of(data, size)));
    Overrides answers;
    fuzz::read([&] {
        if (const auto recognised = recognise_model(folder.path())) answers.emplace_back("nhead", "2");
    });
    fuzz::read([&] { static_cast<void>(load_model(folder.path(), answers)); });
    return 0;
}
