#include "engine/load/families/family.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"
#include "engine/load/families/reading.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::load::families {

namespace {

const OrderedJson& families() { return asset_table("families")["families"]; }

// The value of their key by a rule; null if there is none.
OrderedJson value_of_theirs(Reading& r, const std::string& kind, const OrderedJson& rule) {
    FamilyKeys& keys = r.keys;
    const KeyNames names = rule[kind];
    if (rule.contains("null") && keys.is_null(names.first())) {
        if (rule["null"] == "refused") keys.fail(names, message("a positive integer"));
        return rule["null"];
    }
    if (rule.contains("optional") && !keys.has(names)) return nullptr;
    const OrderedJson otherwise = rule.contains("or") ? r.value(rule["or"]) : nullptr;
    if (kind == "size") return otherwise.is_null() ? keys.size(names) : keys.size(names, otherwise.get<Index>());
    if (kind == "number") return keys.number(names, otherwise.get<double>());
    if (kind == "positive") return keys.positive(names, otherwise.is_null() ? 0.0 : otherwise.get<double>());
    if (kind == "activation") return keys.activation(names, otherwise.get<std::string>());
    const bool flag = keys.flag(names, otherwise.get<bool>());
    if (rule.contains("then")) return flag ? rule["then"] : nullptr;
    return flag && !(rule.contains("unless") && keys.flag(rule["unless"], false));
}

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

OrderedJson Reading::value(const OrderedJson& rule) {
    if (!rule.is_object()) return rule;
    OrderedJson found = rule.contains("ours") ? config.at(rule["ours"].get<std::string>()) : nullptr;
    for (const char* kind : {"size", "number", "positive", "flag", "activation"})
        if (rule.contains(kind)) found = value_of_theirs(*this, kind, rule);
    if (found.is_null()) return found;
    const auto by = [&](const char* key) {
        const OrderedJson& factor = rule[key];
        return factor.is_string() ? ours(factor.get<std::string>().c_str()) : factor.get<Index>();
    };
    if (rule.contains("times")) found = found.get<Index>() * by("times");
    if (rule.contains("over")) found = found.get<Index>() / by("over");
    if (rule.contains("inverse"))
        found = 1.0 / (rule["inverse"] == "root" ? std::sqrt(found.get<double>()) : found.get<double>());
    return rule.contains("off") && found == value(rule["off"]) ? nullptr : found;
}

void Reading::take(const OrderedJson& entry) {
    for (const auto& [key, with] : entry.items()) {
        if (key == "about" || key == "like" || key == "expect") continue;
        if (key == "nhead") names_of_heads = with["size"];
        if (const Instruction instruction = instruction_named(key))
            instruction(*this, with);
        else if (const OrderedJson found = value(with); !found.is_null())
            config[key] = found;
    }
    const OrderedJson expectations = entry.value("expect", OrderedJson::object());
    for (const auto& [key, expected] : expectations.items()) {
        const OrderedJson usual = expected.value("is", OrderedJson());
        keys.expect(key, usual.is_object() && usual.contains("ours") ? value(usual) : usual,
                    asset_text(expected["why"].get<std::string>()));
    }
}

OrderedJson entry_named(std::string_view name) {
    const OrderedJson& common = asset_table("families")["common"];
    const OrderedJson& entry = (families().contains(name) ? families() : common)[std::string(name)];
    if (!entry.contains("like")) return entry;
    OrderedJson merged = entry_named(entry["like"].get<std::string>());
    merged.merge_patch(entry);
    return merged;
}

ModelFamily read_family(std::string_view config_json) {
    const nlohmann::json parsed = parse_json(config_json, message("an object of configuration keys"));
    ModelFamily family;
    family.config_json = std::string(config_json);
    const auto type = parsed.is_object() ? parsed.find("model_type") : parsed.end();
    if (!parsed.is_object() || type == parsed.end() || !type->is_string() || *type == "decoderscope") return family;
    family.model_type = type->get<std::string>();
    if (!families().contains(family.model_type)) refuse(family.model_type);
    FamilyKeys keys{OrderedJson(parsed)};
    Reading reading = {keys, family};
    quantisation(reading);
    reading.take(entry_named(family.model_type));
    // Hugging Face's generate counts what isn't padding, in every decoder that has no encoder.
    if (!reading.config.value("cross_attention", false)) reading.config["positions"] = "from_mask";
    // Hidden scores get the type's lowest number: a query that sees nothing, as padding before a text, sees all alike.
    reading.config["mask_value"] = "-3.4028235e+38";
    const Index width = reading.ours("d_model");
    if (!reading.config.contains("head_dim") && width % reading.ours("nhead") != 0)
        keys.fail(reading.names_of_heads, message("a divisor of {number}", {{"number", width}}));
    keys.finish(family.model_type);
    settle_names(family);
    family.config_json = reading.config.dump(2);
    return family;
}

std::vector<std::string_view> family_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : families().items()) names.emplace_back(name);
    return names;
}

}  // namespace decoderscope::load::families
