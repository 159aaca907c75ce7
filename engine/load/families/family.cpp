#include "engine/load/families/family.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/load/families/keys.h"
#include "engine/load/families/readers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::load::families {

namespace {

using namespace families;

constexpr std::array<std::pair<std::string_view, void (*)(Reading&)>, 36> kFamilies = {{
    {"bart", read_bart},
    {"bloom", read_bloom},
    {"cohere", read_cohere},
    {"cohere2", read_cohere2},
    {"deepseek_v2", read_deepseek_v2},
    {"deepseek_v3", read_deepseek_v3},
    {"falcon", read_falcon},
    {"gemma", read_gemma},
    {"gemma2", read_gemma2},
    {"gemma3", read_gemma3_with_pictures},
    {"gemma3_text", read_gemma3},
    {"gpt2", read_gpt2},
    {"gpt_neo", read_gpt_neo},
    {"gpt_neox", read_gpt_neox},
    {"gpt_oss", read_gpt_oss},
    {"gptj", read_gptj},
    {"granite", read_granite},
    {"kimi_k2", read_deepseek_v3},
    {"llama", read_llama},
    {"marian", read_marian},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"mpt", read_mpt},
    {"olmo2", read_olmo2},
    {"olmo3", read_olmo3},
    {"opt", read_opt},
    {"phi", read_phi},
    {"phi3", read_phi3},
    {"qwen2", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"smollm3", read_smollm3},
    {"stablelm", read_stablelm},
    {"starcoder2", read_starcoder2},
    {"t5", read_t5},
}};

// What no configuration says about its file's names, as these families have it.
void settle_names(ModelFamily& family) {
    const auto otherwise = [&](const char* key, const char* answer) {
        const bool said = std::ranges::any_of(family.names, [&](const auto& known) { return known.first == key; });
        if (!said) family.names.emplace_back(key, answer);
    };
    otherwise("positions_from", "0");
    otherwise("embedding_norm", "false");
    otherwise("stored_as", family.in_out ? "in_out" : "out_in");
}

// Weights in fewer bits, as far as they are read: the experts' as MXFP4, matrices as FP8 with a scale for each block.
void quantisation(Reading& r) {
    FamilyKeys keys = r.keys.object("quantization_config");
    const std::string method = keys.word("quant_method", "");
    if (r.keys.has("quantization_config") && method != "mxfp4" && method != "fp8")
        keys.fail("quant_method", message("one of {expected}", {{"expected", "mxfp4, fp8"}}));
    keys.ignore({"modules_to_not_convert", "activation_scheme", "dequantize"});
    if (method == "fp8") {
        keys.expect("fmt", "e4m3", message("numbers of 8 bits are F8_E4M3"));
        keys.expect("weight_block_size", {128, 128}, message("a scale is for a block of 128 × 128"));
    }
    keys.finish(r.family.model_type);
}

[[noreturn]] void refuse(const std::string& model_type) {
    std::string read = "decoderscope";
    for (const std::string_view name : family_names()) read += ", " + std::string(name);
    throw Error("model_type: {found}, expected one of {families}",
                {{"found", "\"" + model_type.substr(0, 60) + "\""}, {"families", read}});
}

}  // namespace

ModelFamily read_family(std::string_view config_json) {
    const nlohmann::json parsed = parse_json(config_json, message("an object of configuration keys"));
    ModelFamily family;
    family.config_json = std::string(config_json);
    const auto type = parsed.is_object() ? parsed.find("model_type") : parsed.end();
    if (!parsed.is_object() || type == parsed.end() || !type->is_string() || *type == "decoderscope") return family;
    family.model_type = type->get<std::string>();
    const auto reader = std::ranges::find(kFamilies, family.model_type, [](const auto& known) { return known.first; });
    if (reader == kFamilies.end()) refuse(family.model_type);
    FamilyKeys keys{OrderedJson(parsed)};
    Reading reading = {keys, family};
    quantisation(reading);
    reader->second(reading);
    const Index width = reading.config["d_model"].get<Index>();
    if (!reading.config.contains("head_dim") && width % reading.config["nhead"].get<Index>() != 0)
        keys.fail(reading.names_of_heads, message("a divisor of {number}", {{"number", width}}));
    keys.finish(family.model_type);
    settle_names(family);
    family.config_json = reading.config.dump(2);
    return family;
}

std::vector<std::string_view> family_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, read] : kFamilies) names.push_back(name);
    return names;
}

}  // namespace decoderscope::load::families
