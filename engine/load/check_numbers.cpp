#include "engine/load/check_numbers.h"

#include "engine/base/error.h"
#include "engine/load/check_weights.h"
#include "engine/load/expanded.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
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

}  // namespace decoderscope::load
