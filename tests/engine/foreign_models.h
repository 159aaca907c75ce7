#pragma once

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/model/config.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// tests/reference/foreign/models/: models as other programs save them, each with what is known about it.
namespace decoderscope::testing {

inline const std::filesystem::path kForeignModels = DECODERSCOPE_TESTS_DIR "/reference/foreign/models";

// Their folders, by name; none where the models were not made.
inline std::vector<std::filesystem::path> foreign_models() {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(kForeignModels))
        for (const auto& entry : std::filesystem::directory_iterator(kForeignModels)) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

inline nlohmann::json about(const std::filesystem::path& model) {
    return parse_json(read_text((model / "about.json").string()), message("about"));
}

// What a person answers to the questions about a model.
inline Overrides known_answers(const nlohmann::json& about) {
    Overrides known;
    for (const char* list : {"asks", "assumes"})
        if (about.contains(list))
            for (const auto& [key, value] : about[list].items()) {
                const nlohmann::json& answer = value["answer"];
                known.emplace_back(key, answer.is_string() ? answer.get<std::string>() : answer.dump());
            }
    return known;
}

}  // namespace decoderscope::testing
