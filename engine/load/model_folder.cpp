#include "engine/load/model_folder.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/platform/files.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <vector>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

constexpr std::array kVocabularies = {
    "vocabulary.json", "encoder_vocabulary.json", "tokenizer.json", "vocab.json", "merges.txt",
    "pieces.json",     "generation_config.json"};
constexpr std::array kOthers = {"config.json", "model.safetensors", "example.json"};

[[noreturn]] void fail(const std::string& path, const std::error_code& why) {
    throw Error("{path}: cannot be written: {why}", {{"path", path}, {"why", why.message()}});
}

// The folder itself: where links lead, without a slash at its end, which would be a folder without a name.
fs::path named(const std::string& path) {
    std::error_code failed;
    const fs::path real = fs::weakly_canonical(path, failed);
    const fs::path folder = failed ? fs::path(absolute_path(path)) : fs::absolute(real, failed);
    return folder.has_filename() ? folder : folder.parent_path();
}

// Also one that was replaced while it was open, if the system then keeps it under another name (platform/files.h).
bool is_ours(const fs::path& file) {
    std::string name = file.filename().string();
    name = name.substr(0, name.find(".before-"));
    return std::ranges::find(kVocabularies, name) != kVocabularies.end() ||
           std::ranges::find(kOthers, name) != kOthers.end();
}

// Beside the folder, so that it can be renamed to it.
fs::path temporary_name(const fs::path& folder, const char* ending) {
    return name_beside(folder.string(), ending) + std::to_string(platform::process_number());
}

// Removes a folder that was replaced. A file of it that is open isn't gone before it is closed, if the system keeps it
// until then: it waits in the new folder (is_ours), so that no folder is left beside that one.
void remove_replaced(const fs::path& before, const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> names;
    for (const auto& entry : fs::directory_iterator(before, ignored)) names.push_back(entry.path().filename());
    for (const fs::path& name : names) {
        const fs::path waiting = temporary_name(folder / name, ".before-");
        fs::rename(before / name, waiting, ignored);
        fs::remove(waiting, ignored);
    }
    fs::remove_all(before, ignored);
}

// A folder that is removed again unless it gets its name.
class Temporary {
public:
    explicit Temporary(fs::path path) : path_(std::move(path)) {
        std::error_code failed;
        fs::create_directory(path_, failed);
        if (failed) fail(path_.string(), failed);
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

    // In one step if the system can, so that there is a whole model under the name at any moment.
    void become(const fs::path& folder) const {
        std::error_code failed;
        if (!fs::exists(folder, failed)) {
            fs::rename(path_, folder, failed);
        } else if (!platform::exchange(path_.string(),
                                       folder.string())) {  // otherwise the destructor removes what was there
            const fs::path before = temporary_name(folder, ".before");
            std::error_code ignored;
            fs::rename(folder, before, failed);
            if (failed) {
                failed = become_file_by_file(folder);
            } else {
                fs::rename(path_, folder, failed);
                if (failed)
                    fs::rename(before, folder, ignored);
                else
                    remove_replaced(before, folder);
            }
        }
        if (failed) fail(folder.string(), failed);
    }

private:
    // While a file of the folder is open, Windows doesn't rename the folder.
    [[nodiscard]] std::error_code become_file_by_file(const fs::path& folder) const {
        std::error_code failed;
        std::vector<fs::path> fresh;
        for (const auto& entry : fs::directory_iterator(path_, failed)) fresh.push_back(entry.path().filename());
        for (const fs::path& name : fresh)
            if (!failed) failed = platform::replace_file((path_ / name).string(), (folder / name).string());
        if (failed) return failed;
        std::vector<fs::path> others;
        for (const auto& entry : fs::directory_iterator(folder, failed))
            if (std::ranges::find(fresh, entry.path().filename()) == fresh.end()) others.push_back(entry.path());
        std::error_code ignored;
        for (const fs::path& other : others) fs::remove(other, ignored);
        return failed;
    }

    fs::path path_;
};

void write_text(const std::string& path, const std::string& text) {
    write_whole(path, [&](std::ostream& out) { out << text; });
}

// Only its texts; nothing if it has none.
std::string texts_of_example(const std::string& example) {
    const nlohmann::json json = parse_json(example, message("an object"));
    nlohmann::ordered_json texts = nlohmann::ordered_json::object();
    for (const char* key : {"source", "target", "tokens"})
        if (json.contains(key)) texts[key] = json[key];
    return texts.empty() ? std::string() : texts.dump(2) + "\n";
}

}  // namespace

void check_model_folder(const std::string& path) {
    const fs::path folder = named(path);
    std::error_code failed;
    if (!fs::is_directory(folder.parent_path(), failed))
        throw Error("{path}: its folder {parent} is missing",
                    {{"path", path}, {"parent", folder.parent_path().string()}});
    if (const auto failed_to = platform::folder_protection(folder.parent_path().string())) fail(path, failed_to);
    if (!fs::exists(folder, failed)) return;
    if (!fs::is_directory(folder, failed))
        throw Error("{path}: is a file, expected a folder or nothing", {{"path", path}});
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (!is_ours(entry.path()))
            throw Error("{path}: holds {file}, expected nothing or only a model's files, which are replaced",
                        {{"path", path}, {"file", entry.path().filename().string()}});
    if (failed) fail(path, failed);
}

void write_model_folder(const std::string& path, const ModelFolder& model) {
    check_model_folder(path);
    const fs::path folder = named(path);
    const Temporary temporary(temporary_beside(folder.string()));
    write_text(temporary.file("config.json"), config_to_json(model.config));
    write_safetensors(temporary.file("model.safetensors"), {model.weights.begin(), model.weights.end()});
    for (const auto& [name, text] : model.files) write_text(temporary.file(name), text);
    temporary.become(folder);
}

std::map<std::string, std::string> files_to_keep(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const char* name : kVocabularies)
        if (is_there(fs::path(folder) / name)) files[name] = text_of_file(fs::path(folder) / name);
    if (const fs::path example = fs::path(folder) / "example.json"; is_there(example))
        if (std::string texts = texts_of_example(text_of_file(example)); !texts.empty())
            files["example.json"] = std::move(texts);
    return files;
}

}  // namespace decoderscope::load
