#include "engine/model/names/family_answers.h"

#include "engine/json.h"

#include <algorithm>
#include <array>
#include <string>

namespace decoderscope {

namespace {

std::string family_of(std::string_view config_json) {
    const nlohmann::json config = parse_json(config_json, message("an object of configuration keys"));
    const auto type = config.is_object() ? config.find("model_type") : config.end();
    return config.is_object() && type != config.end() && type->is_string() ? type->get<std::string>() : std::string();
}

template <std::size_t count>
bool is_one_of(const std::string& family, const std::array<std::string_view, count>& families) {
    return std::ranges::find(families, family) != families.end();
}

constexpr std::array<std::string_view, 2> kByHead = {"gpt_neox", "bloom"};
constexpr std::array<std::string_view, 1> kOneByOne = {"phi3"};
constexpr std::array<std::string_view, 3> kOffset = {"opt", "bart", "mbart"};

}  // namespace

Overrides family_answers(std::string_view config_json) {
    const std::string family = family_of(config_json);
    Overrides answers;
    if (is_one_of(family, kByHead)) answers.emplace_back("qkv_order", "by_head");
    if (is_one_of(family, kOneByOne)) answers.emplace_back("qkv_order", "one_by_one");
    if (is_one_of(family, kOneByOne)) answers.emplace_back("gate_proj", "first");
    if (family.empty() || family == "decoderscope") return answers;
    answers.emplace_back("positions_from", is_one_of(family, kOffset) ? "2" : "0");
    answers.emplace_back("embedding_norm", "false");
    return answers;
}

}  // namespace decoderscope
