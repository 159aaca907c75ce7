// Other projects' decoders (tests/reference/foreign): each of their tensors is taken for what its module says it is.
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/checkpoint.h"
#include "engine/model/names/family_answers.h"
#include "engine/model/names/recognise_names.h"
#include "tests/catch.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace decoderscope;
namespace fs = std::filesystem;

namespace {

const fs::path kModels = DECODERSCOPE_TESTS_DIR "/reference/foreign/models";

std::vector<fs::path> models() {
    std::vector<fs::path> found;
    if (fs::exists(kModels))
        for (const auto& entry : fs::directory_iterator(kModels)) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

nlohmann::json about(const fs::path& model) {
    return parse_json(read_text((model / "about.json").string()), message("about"));
}

// What a person knows of it, and what the family's configuration says.
Overrides answers(const fs::path& model) {
    Overrides known;
    const nlohmann::json said = about(model);
    for (const char* list : {"asks", "assumes"})
        if (said.contains(list))
            for (const auto& [key, value] : said[list].items()) {
                const nlohmann::json& answer = value["answer"];
                known.emplace_back(key, answer.is_string() ? answer.get<std::string>() : answer.dump());
            }
    if (fs::exists(model / "config.json"))
        for (const auto& answer : family_answers(read_text((model / "config.json").string()))) known.push_back(answer);
    return known;
}

// Our parameters, each with the tensor that it comes from and how.
std::map<std::string, std::string> sources(const Mapping& mapping) {
    std::map<std::string, std::string> by_name;
    for (const auto& [theirs, targets] : mapping)
        for (const Target& target : targets) by_name[text_of(target)] = theirs;
    return by_name;
}

}  // namespace

TEST_CASE("each tensor of other projects' decoders is taken for what it is") {
    for (const fs::path& model : models()) {
        INFO(model.filename().string());
        const nlohmann::json said = about(model);
        if (said.contains("needs")) continue;  // what our keys can't say is refused
        const Checkpoint checkpoint(model);
        const auto expected = sources(parse_mapping(said["map"].dump()));
        const auto found = sources(recognise_names(checkpoint.shapes(), answers(model)).mapping);
        for (const auto& [ours, theirs] : expected) {
            INFO(ours << " <- " << theirs);
            const auto at = found.find(ours);
            CHECK((at != found.end() && at->second == theirs));
        }
        for (const auto& [ours, theirs] : found) {
            if (said.contains("skipped") && said["skipped"].contains(theirs)) continue;  // the head that is tied
            INFO(ours << " <- " << theirs << ", which it is not");
            CHECK(expected.contains(ours));
        }
    }
}
