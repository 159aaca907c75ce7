#pragma once

#include "engine/load/families/family.h"
#include "engine/load/families/keys.h"

namespace decoderscope::load::families {

// A family while its config.json is read by its entry in assets/tables/families.json, which has the keys, defaults and
// meaning of the class in Hugging Face's transformers. Such an entry is taken member by member, in order:
//
// "like"       another entry, which this one is merged into as a patch (RFC 7396): null takes a member away
// "expect"     keys that must have the usual value, and what another would change; looked at last
// an instruction (steps.cpp), with what it needs
// a key of ours, with its value or a rule:
//   {"size" | "number" | "positive" | "flag" | "activation": their key, or several names of it}
//     "or"       the value if the key is missing, or a rule for it; "optional": then there is none
//     "null"     the value if the key says null; "refused": an error
//     "unless"   another flag that makes it false; "then": the value if it is true, none otherwise
//   {"ours": a key of ours}, its value
//     "times", "over", "inverse" ("value" or "root") change the number; "off": the number that means none
struct Reading {
    FamilyKeys& keys;
    ModelFamily& family;
    OrderedJson config = {{"model_type", "decoderscope"}};
    KeyNames names_of_heads = "nhead";  // what the family calls it

    // Takes an entry. Throws Error naming the key if it isn't as the entry has it.
    void take(const OrderedJson& entry);
    // The value of a rule; null if there is none.
    [[nodiscard]] OrderedJson value(const OrderedJson& rule);
    [[nodiscard]] Index size(const OrderedJson& rule) { return value(rule).get<Index>(); }
    [[nodiscard]] Index ours(const char* key) const { return config.at(key).get<Index>(); }
    [[nodiscard]] bool flag(const KeyNames& key) { return keys.flag(key, false); }
};

// The entry of a family, or of what several have in common, merged with what it is like.
[[nodiscard]] OrderedJson entry_named(std::string_view name);

// What an entry can ask for beyond a value; nullptr if there is no instruction of that name.
using Instruction = void (*)(Reading& reading, const OrderedJson& with);
[[nodiscard]] Instruction instruction_named(std::string_view name);

// rope_theta, rope_scaling or rope_parameters, partial_rotary_factor, max_position_embeddings; head_dim is read before.
// `with`: theta and part (of a head's columns), the defaults; theta_key and part_key, their names; local_theta, of
// layers with a window, if these have a base of their own; scaled, if there must be a scaling; otherwise, the
// parameters if there are none; alpha, if "dynamic" means a base that it raises; query_scale, mscales: the keys of
// Ministral 3 and Phi-3.5-MoE.
void rope(Reading& reading, const OrderedJson& with);

}  // namespace decoderscope::load::families
