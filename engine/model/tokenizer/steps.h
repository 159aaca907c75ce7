#pragma once

#include "engine/json_object.h"

#include <cstddef>
#include <string>
#include <vector>

namespace decoderscope {

[[noreturn]] inline void unknown_type(const JsonObject& json, const std::string& type) {
    json.fail("type", message("\"{type}\" is unknown here", {{"type", type}}));
}

// The steps of a part of tokenizer.json: none (null), one, or those of a Sequence, whose list has a name of its own.
// `read` makes a step of a type and an object. Throws Error naming the key; unknown keys are errors.
template <class Step, class Read>
std::vector<Step> read_steps(const nlohmann::json& json, const std::string& where, const char* list, Read read) {
    if (json.is_null()) return {};
    JsonObject object(json, where + ".");
    const std::string type = object.text("type");
    std::vector<Step> steps;
    if (type != "Sequence") {  // not a message: a type
        steps.push_back(read(type, object));
        object.finish();
        return steps;
    }
    const nlohmann::json& members = object.list(list);
    object.finish();
    for (std::size_t i = 0; i < members.size(); ++i)
        for (Step& step : read_steps<Step>(members[i], where + "." + list + "[" + std::to_string(i) + "]", list, read))
            steps.push_back(std::move(step));
    return steps;
}

}  // namespace decoderscope
