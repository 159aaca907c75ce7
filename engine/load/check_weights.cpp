#include "engine/load/check_weights.h"

#include "engine/base/error.h"
#include "engine/decoder/decoder.h"
#include "engine/load/expanded.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace decoderscope::load {

namespace {

bool same_numbers(const Checkpoint& checkpoint, const std::string& a, const std::string& b) {
    const Tensor first = checkpoint.tensor(a), second = checkpoint.tensor(b);
    return std::ranges::equal(first.values(), second.values());
}

// The stored tensor that alone becomes a parameter; empty if there is none.
std::string source_of(const names::Mapping& mapping, const std::string& parameter) {
    for (const auto& [stored, targets] : mapping)
        for (const names::Target& target : targets)
            if (target.name == parameter) return stored;
    return {};
}

// Whether a table [pos, d_model] is sin, cos, sin, … of pos · 10000^(−2i/d_model). Programs round the angles of far
// positions differently.
bool is_sinusoidal(const Tensor& table) {
    const Index rows = table.axes()[0].size, columns = table.axes()[1].size;
    const std::span<const float> numbers = table.values();
    for (Index row = 0; row < rows; ++row)
        for (Index i = 0; i < columns; ++i) {
            const auto position = static_cast<double>(row);
            const double angle =
                position * std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(columns));
            const double number = numbers[static_cast<std::size_t>(row * columns + i)];
            const double expected = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
            if (!(std::abs(number - expected) <= 1e-5 + 1e-6 * position)) return false;
        }
    return true;
}

// "up_proj" of "layers.0.up_proj.bias".
std::string_view part_of(std::string_view name) {
    const std::size_t ending = name.rfind('.');
    const std::size_t before = name.rfind('.', ending - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return name.substr(begin, ending - begin);
}

}  // namespace

void refuse_false_copies(const names::RecognisedNames& names, const Checkpoint& checkpoint) {
    for (const names::Copy& copy : names.copies)
        if (!same_numbers(checkpoint, copy.tensor, copy.of))
            throw Error("{tensor}: differs from {other}, expected the same numbers",
                        {{"tensor", copy.tensor}, {"other", copy.of}});
}

void propose_by_numbers(Recognised& recognised, const Checkpoint& checkpoint) {
    if (!recognised.scaled_if_tied) return;
    const std::string head = source_of(recognised.names.mapping, "lm_head.weight"),
                      embedding = source_of(recognised.names.mapping, "embed.weight");
    if (head.empty() || embedding.empty() || head == embedding || same_numbers(checkpoint, head, embedding)) return;
    propose(recognised, "logit_scale", "1",
            message("the head differs from the embedding, and {module} scales the logits only if they are the same",
                    {{"module", recognised.module}}));
}

std::vector<Sentence> leave_out_sinusoids(StateDict& state_dict, const Config& config, const Checkpoint& checkpoint) {
    std::vector<Sentence> remarks;
    if (config.positional_encoding != PositionalEncoding::sinusoidal) return remarks;
    for (const char* side : {"", "encoder."}) {
        const std::string name = std::string(side) + "pos_embed.weight";
        const auto found = state_dict.shapes.find(name);
        if (found == state_dict.shapes.end() || found->second.size() != 2) continue;
        const std::string stored = both_names(state_dict, name);
        if (!is_sinusoidal(assembled(state_dict, name, checkpoint)))
            throw Error(
                "{name}: differs from the sinusoidal encoding, expected the same when positional_encoding is "
                "sinusoidal",
                {{"name", stored}});
        remarks.push_back(message(
            "{file}: {name}: holds the sinusoidal encoding, which is computed",
            {{"file", std::filesystem::path(checkpoint.weights_path()).filename().string()}, {"name", stored}}));
        state_dict.shapes.erase(found);
        std::erase_if(state_dict.rows, [&](const StoredRows& rows) { return rows.name == name; });
    }
    return remarks;
}

std::string both_names(const StateDict& state_dict, const std::string& name) {
    for (const StoredRows& rows : state_dict.rows)
        if (rows.name == name) return rows.from == name ? name : rows.from + ", as " + name;
    for (const InterleavedRows& rows : state_dict.interleaved)
        if (std::ranges::find(rows.names, name) != rows.names.end()) return rows.from + ", as " + name;
    return name;
}

namespace {

// Of a tensor outside the blocks that a mapping calls so, also says what there is.
[[noreturn]] void refuse_surplus(const StateDict& state_dict, const std::string& name,
                                 const std::set<std::string, std::less<>>& known) {
    const std::string both = both_names(state_dict, name);
    const auto in_block = [](const std::string& of) { return of.find("layers.") != std::string::npos; };
    if (both == name || in_block(name)) throw Error("{name}: this configuration has no such tensor", {{"name", both}});
    std::string there;
    for (const std::string& other : known)
        if (!in_block(other)) there += (there.empty() ? "" : ", ") + other;
    throw Error("{name}: this configuration has no such tensor; expected one of {known}",
                {{"name", both}, {"known", there}});
}

}  // namespace

void check_shapes(const StateDict& state_dict, const Config& config) {
    const names::Shapes& shapes = state_dict.shapes;
    // A tied head may also be stored.
    const bool tied = config.lm_head && config.tie_word_embeddings;
    std::set<std::string, std::less<>> known;
    if (tied) known.insert("lm_head.weight");
    const std::vector<Declared> declared = decoder::declared_parameters(config);
    // A missing or surplus tensor says more about what is wrong than one with the wrong shape.
    for (const Declared& parameter : declared) {
        known.insert(parameter.name);
        if (parameter.required && !shapes.contains(parameter.name))
            throw Error("{name}: missing; expected a tensor of shape {shape}",
                        {{"name", parameter.name}, {"shape", shape_text(parameter.axes)}});
    }
    for (const auto& [name, shape] : shapes)
        if (!known.contains(name)) refuse_surplus(state_dict, name, known);
    for (const Declared& parameter : declared) {
        const auto found = shapes.find(parameter.name);
        if (found != shapes.end() && shape_text(found->second) != shape_text(parameter.axes))
            throw Error("{name}: shape {shape}, expected {expected}", {{"name", both_names(state_dict, parameter.name)},
                                                                       {"shape", shape_text(found->second)},
                                                                       {"expected", shape_text(parameter.axes)}});
    }
}

void refuse_open_names(const names::RecognisedNames& names, const Config& config) {
    std::set<std::string> declared;
    for (const Declared& parameter : decoder::declared_parameters(config)) declared.insert(parameter.name);
    for (const std::string& name : names.open)
        if (!declared.contains(name))
            throw Error(
                "{name}: not recognised; expected a mapping (--map FILE) that says what it is, {example}, or \"\" to "
                "compute without it",
                {{"name", name}, {"example", "{\"" + name + "\": \"layers.0.up_proj.weight\"}"}});
}

void refuse_unanswered_names(const names::RecognisedNames& names, const Overrides& answers) {
    for (const Question& question : names.questions)
        if (question.required &&
            std::ranges::none_of(answers, [&](const auto& answer) { return answer.first == question.key; }))
            throw Error("{key}: {why}; expected --set {key}=…", {{"key", question.key}, {"why", question.why}});
}

void check_orientation(const names::RecognisedNames& names, const names::Mapping& given, const names::Shapes& stored,
                       const families::ModelFamily& family) {
    for (const auto& [from, targets] : names.mapping) {
        const auto found = stored.find(from);
        if (given.contains(from) || found == stored.end() || found->second.size() != 2) continue;
        for (const names::Target& target : targets) {
            const bool turned = target.how == names::RowLayout::transposed;
            const bool projects = target.name.ends_with("_proj.weight");
            if (turned == (family.in_out && projects)) continue;
            const Arguments named = {
                {"from", from}, {"shape", shape_text(found->second)}, {"family", family.model_type}};
            if (turned) throw Error("{from}: shape {shape}, expected [out, in] as in files of {family}", named);
            throw Error("{from}: shape {shape}, expected [in, out] as in files of {family}", named);
        }
    }
}

void add_missing_biases(names::Shapes& shapes, const Config& config) {
    const bool own_head = config.lm_head && !config.tie_word_embeddings && config.bias;
    if (own_head && shapes.contains("lm_head.weight")) shapes.try_emplace("lm_head.bias", 1, config.vocab_size);
    if (config.norm_gain) return;
    for (const Declared& parameter : decoder::declared_parameters(config))
        if (parameter.name.ends_with(".bias") && parameter.name.find("norm") != std::string::npos)
            shapes.try_emplace(parameter.name, sizes_of(parameter.axes));
}

void drop_tied_head(Weights& weights, const Config& config) {
    if (!config.lm_head || !config.tie_word_embeddings) return;
    const auto head = weights.find("lm_head.weight");
    if (head == weights.end()) return;
    const auto embedding = weights.find("embed.weight");
    const auto same_bits = [](float a, float b) {  // NaN equals itself here
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    if (embedding == weights.end() || !std::ranges::equal(head->second.values(), embedding->second.values(), same_bits))
        throw Error("lm_head.weight: differs from embed.weight, expected the same when tie_word_embeddings is on");
    weights.erase(head);
}

std::vector<std::string> add_omitted_parameters(StateDict& state_dict, const Config& config,
                                                const families::ModelFamily& family) {
    std::vector<std::string> tables;
    for (const Declared& parameter : decoder::declared_parameters(config)) {
        const bool bias = parameter.name.ends_with(".bias");
        if (bias && std::ranges::find(family.unbiased, part_of(parameter.name)) != family.unbiased.end()) {
            if (state_dict.shapes.contains(parameter.name))
                throw Error("{name}: this configuration has no such tensor",
                            {{"name", both_names(state_dict, parameter.name)}});
            if (parameter.required) state_dict.shapes.emplace(parameter.name, sizes_of(parameter.axes));
        } else if (parameter.name == "lm_head.bias" && !config.tie_word_embeddings &&
                   !state_dict.shapes.contains(parameter.name)) {
            // A head may lack one in the contract's own files; this family's has one.
            throw Error("{name}: missing; expected a tensor of shape {shape}",
                        {{"name", parameter.name}, {"shape", shape_text(parameter.axes)}});
        }
        const bool table = family.makes_positions && parameter.name.ends_with("pos_embed.weight");
        if (table && state_dict.shapes.emplace(parameter.name, sizes_of(parameter.axes)).second)
            tables.push_back(parameter.name);
    }
    return tables;
}

void make_positions(Weights& weights, const std::vector<std::string>& tables) {
    for (const std::string& name : tables) {
        Tensor& table = weights.at(name);
        const Index rows = table.axes()[0].size, columns = table.axes()[1].size, sines = (columns + 1) / 2;
        const std::span<float> numbers = table.writable();
        for (Index row = 0; row < rows; ++row)
            for (Index i = 0; i < columns; ++i) {
                const Index pair = i < sines ? i : i - sines;
                const double angle = static_cast<double>(row) *
                                     std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(columns));
                numbers[static_cast<std::size_t>(row * columns + i)] =
                    static_cast<float>(i < sines ? std::sin(angle) : std::cos(angle));
            }
    }
}

}  // namespace decoderscope::load
