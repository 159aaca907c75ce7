#include "engine/load/families/reading.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace decoderscope::load::families {

namespace {

constexpr const char* kScalings = "default, linear, llama3, yarn, longrope";  // not a message: the key's words

// The positions of the training before: of the object, beside it, or all there are.
Index original_positions(Reading& reading, FamilyKeys& object) {
    const OrderedJson& config = reading.config;
    const Index all = config.contains("max_positions") ? config["max_positions"].get<Index>() : 0;
    const Index beside = reading.keys.size("original_max_position_embeddings", all);
    const Index found = object.size("original_max_position_embeddings", beside);
    if (found == 0) object.fail("original_max_position_embeddings", message("a positive integer"));
    return found;
}

// transformers' _compute_yarn_parameters
void yarn(Reading& reading, FamilyKeys& object) {
    OrderedJson& config = reading.config;
    config["rope_scaling"] = "yarn";
    if (!object.has("factor")) object.fail("factor", message("a number"));
    const double factor = object.positive("factor", 1.0);
    config["rope_factor"] = factor;
    config["rope_original_positions"] = original_positions(reading, object);
    config["rope_beta_fast"] = object.positive("beta_fast", 32.0);
    config["rope_beta_slow"] = object.positive("beta_slow", 1.0);
    config["rope_truncate"] = object.flag("truncate", true);
    const auto grown = [&](double scale) { return factor > 1.0 ? 0.1 * scale * std::log(factor) + 1.0 : 1.0; };
    const double by = object.number("mscale", 0.0), of_all = object.number("mscale_all_dim", 0.0);
    if (const double given = object.number("attention_factor", 0.0); given > 0.0)
        config["rope_attention_factor"] = given;
    else if (by > 0.0 && of_all > 0.0)
        config["rope_attention_factor"] = grown(by) / grown(of_all);
}

// How wide a head is, as far as read.
Index head_width(const OrderedJson& config) {
    return config.contains("head_dim") ? config["head_dim"].get<Index>()
                                       : config["d_model"].get<Index>() / config["nhead"].get<Index>();
}

// A number for each pair of columns that RoPE turns.
OrderedJson divisors(const Reading& reading, FamilyKeys& object, const char* key) {
    const Index columns = reading.config.value("rotary_dim", head_width(reading.config));
    const OrderedJson found = object.value(key);
    const bool fits = found.is_array() && static_cast<Index>(found.size()) == columns / 2 &&
                      std::ranges::all_of(found, [](const OrderedJson& divisor) {
                          return divisor.is_number() && divisor.get<double>() > 0.0;
                      });
    if (!fits)
        object.fail(key,
                    message("a list of {count} positive numbers, one per pair of columns", {{"count", columns / 2}}));
    return found;
}

// transformers' _compute_longrope_parameters
void longrope(Reading& reading, FamilyKeys& object) {
    OrderedJson& config = reading.config;
    const Index original = original_positions(reading, object);
    const auto all = static_cast<double>(config.value("max_positions", original));
    config["rope_scaling"] = "longrope";
    config["rope_factor"] = object.positive("factor", std::max(1.0, all / static_cast<double>(original)));
    config["rope_original_positions"] = original;
    config["rope_short_factors"] = divisors(reading, object, "short_factor");
    config["rope_long_factors"] = divisors(reading, object, "long_factor");
    if (const double given = object.number("attention_factor", 0.0); given > 0.0)
        config["rope_attention_factor"] = given;
}

// Hunyuan's base for longer texts, whatever their length: NTK-aware scaling by a fixed alpha.
void raise_base(Reading& reading, FamilyKeys& object) {
    const auto columns = static_cast<double>(head_width(reading.config));
    const double theta = reading.config["rope_theta"].get<double>();
    reading.config["rope_theta"] = theta * std::pow(object.positive("alpha", 1.0), columns / (columns - 2.0));
    object.ignore({"factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"});
}

// What only some families have beside a scaling.
void beside_scaling(Reading& reading, FamilyKeys& object, const OrderedJson& with) {
    OrderedJson& config = reading.config;
    if (with.contains("query_scale") && object.has("llama_4_scaling_beta")) {
        config["query_scale_beta"] = object.number("llama_4_scaling_beta", 0.0);
        config["query_scale_positions"] = object.size("original_max_position_embeddings");
        object.ignore("max_position_embeddings");
    }
    if (with.contains("mscales") && object.has("short_mscale")) {
        const double factor = object.positive("short_mscale", 1.0);
        object.expect("long_mscale", factor, message("short and long texts have the same factor"));
        config["rope_attention_factor"] = factor;
    }
}

// The object that says how RoPE is scaled.
void scaling(Reading& reading, FamilyKeys object, const OrderedJson& with) {
    OrderedJson& config = reading.config;
    const std::string kind = object.word({"rope_type", "type"}, "default");
    if (kind == "dynamic" && with.contains("alpha") && object.has("alpha")) {
        raise_base(reading, object);
    } else if (kind == "linear") {
        config["rope_scaling"] = "linear";
        if (!object.has("factor")) object.fail("factor", message("a number"));
        config["rope_factor"] = object.positive("factor", 1.0);
    } else if (kind == "llama3") {
        config["rope_scaling"] = "llama3";
        for (const auto& [theirs, ours] : {std::pair{"factor", "rope_factor"},
                                           {"low_freq_factor", "rope_low_freq_factor"},
                                           {"high_freq_factor", "rope_high_freq_factor"}}) {
            if (!object.has(theirs)) object.fail(theirs, message("a number"));
            config[ours] = object.number(theirs, 1.0);
        }
        config["rope_original_positions"] = object.size("original_max_position_embeddings");
    } else if (kind == "yarn") {
        yarn(reading, object);
    } else if (kind == "longrope") {
        longrope(reading, object);
    } else if (kind != "default") {
        object.fail({"rope_type", "type"}, message("one of {expected}", {{"expected", kScalings}}));
    }
    beside_scaling(reading, object, with);
    object.finish(reading.family.model_type);
}

// The parameters of the layers without a window; those with one have a base of their own.
FamilyKeys of_full_layers(Reading& reading, double local, FamilyKeys parameters) {
    local = reading.keys.positive("rope_local_base_freq", local);
    if (parameters.has("full_attention") || parameters.has("sliding_attention")) {
        FamilyKeys windowed = parameters.object("sliding_attention");
        windowed.expect("rope_type", "default", message("RoPE is not scaled in layers with a window"));
        local = windowed.positive("rope_theta", local);
        windowed.finish(reading.family.model_type);
        FamilyKeys full = parameters.object("full_attention");
        parameters.finish(reading.family.model_type);
        parameters = full;
    }
    reading.config["rope_local_theta"] = local;
    return parameters;
}

}  // namespace

void rope(Reading& reading, const OrderedJson& with) {
    const KeyNames theta = with.value("theta_key", OrderedJson("rope_theta"));
    const KeyNames part = with.value("part_key", OrderedJson("partial_rotary_factor"));
    FamilyKeys& keys = reading.keys;
    OrderedJson& config = reading.config;
    config["positional_encoding"] = "rope";
    if (const Index positions = keys.size("max_position_embeddings", 0); positions > 0)
        config["max_positions"] = positions;
    const bool said = keys.has("rope_parameters") || keys.has("rope_scaling") || keys.has(theta);
    FamilyKeys parameters = said || !with.contains("otherwise") ? keys.object("rope_parameters")
                                                                : FamilyKeys(with["otherwise"], "rope_parameters");
    if (with.contains("local_theta")) parameters = of_full_layers(reading, with["local_theta"], std::move(parameters));
    FamilyKeys scaled = keys.object("rope_scaling");
    // Transformers 5 reads the object, 4 what is beside it.
    const double beside = keys.positive(theta, with.value("theta", 10000.0));
    if (keys.has(theta))
        parameters.expect("rope_theta", beside, message("rope_theta beside rope_parameters is different"));
    config["rope_theta"] = parameters.positive("rope_theta", beside);
    scaled.expect("rope_theta", config["rope_theta"], message("rope_theta beside it is different"));
    const double columns = parameters.number("partial_rotary_factor", keys.number(part, with.value("part", 1.0)));
    const Index head = head_width(config);
    if (columns <= 0.0 || columns > 1.0) keys.fail(part, message("a number above 0, up to 1"));
    const auto turned = static_cast<Index>(static_cast<double>(head) * columns);
    if (turned != head) config["rotary_dim"] = turned;
    const bool in_parameters = parameters.has({"rope_type", "type"});
    if (in_parameters && scaled.has({"rope_type", "type"}))
        keys.fail("rope_scaling", message("none beside rope_parameters"));
    scaling(reading, parameters, with);
    scaling(reading, scaled, with);
    if (with.contains("scaled") && !config.contains("rope_scaling"))
        keys.fail("rope_scaling", message("YaRN's settings"));
}

}  // namespace decoderscope::load::families
