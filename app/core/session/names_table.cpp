#include "app/core/session/names_table.h"

#include "engine/base/json.h"
#include "engine/load/names/modules.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace decoderscope::core {

namespace {

constexpr std::string_view kBlock = "layers.";

// The number of the block that one of our names is in, and the name with a star for it; -1 outside the blocks.
std::pair<std::string, Index> starred(const std::string& ours) {
    load::names::Path path = load::names::split(ours);
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
        if (path[i] + "." == kBlock)
            if (const Index number = load::names::number(path[i + 1]); number >= 0) {
                path[i + 1] = "*";
                return {load::names::join(path), number};
            }
    return {ours, -1};
}

// Their name with a star for its first number.
std::pair<std::string, Index> first_number(const std::string& theirs) {
    load::names::Path path = load::names::split(theirs);
    for (std::string& component : path)
        if (const Index number = load::names::number(component); number >= 0) {
            component = "*";
            return {load::names::join(path), number};
        }
    return {theirs, -1};
}

std::string with_number(std::string text, Index number) {
    for (std::size_t star = text.find('*'); star != std::string::npos; star = text.find('*'))
        text.replace(star, 1, std::to_string(number));
    return text;
}

bool is_open(const load::Recognised& recognised, const std::string& name) {
    return std::ranges::find(recognised.names.open, name) != recognised.names.open.end();
}

NamesRow row_of(const load::Recognised& recognised, const std::string& theirs,
                const std::vector<load::names::Target>& targets) {
    NamesRow row{.open = is_open(recognised, theirs)};
    Index block = -1;
    if (!row.open)
        for (const load::names::Target& target : targets) {
            const auto [ours, number] = starred(load::names::text_of(target));
            row.ours += (row.ours.empty() ? "" : " + ") + ours;
            block = std::max(block, number);
        }
    const auto [pattern, number] = first_number(theirs);
    const bool stacked = row.open ? number >= 0 : block >= 0;
    row.theirs = stacked ? pattern : theirs;
    if (const auto stored = recognised.stored.find(theirs); stored != recognised.stored.end())
        row.shape = shape_text(unnamed(stored->second));
    row.tensors = {{theirs, row.open ? number : block}};
    return row;
}

}  // namespace

std::vector<NamesRow> names_table(const load::Recognised& recognised) {
    std::vector<NamesRow> rows;
    for (const auto& [theirs, targets] : recognised.names.mapping) {
        NamesRow row = row_of(recognised, theirs, targets);
        const auto same = std::ranges::find_if(rows, [&](const NamesRow& other) {
            return other.theirs == row.theirs && other.ours == row.ours && other.open == row.open;
        });
        if (same == rows.end())
            rows.push_back(std::move(row));
        else
            same->tensors.push_back(row.tensors.front());
    }
    std::ranges::stable_sort(rows, [](const NamesRow& a, const NamesRow& b) { return a.open > b.open; });
    return rows;
}

load::names::Mapping mapping_of(const std::vector<NamesRow>& rows) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const NamesRow& row : rows)
        for (const auto& [theirs, block] : row.tensors) {
            nlohmann::ordered_json texts = nlohmann::ordered_json::array();
            for (std::size_t start = 0; start <= row.ours.size() && !row.ours.empty();) {
                const std::size_t end = std::min(row.ours.find(" + ", start), row.ours.size());
                texts.push_back(with_number(row.ours.substr(start, end - start), std::max<Index>(block, 0)));
                start = end + 3;
            }
            json[theirs] = texts.empty() ? nlohmann::ordered_json("") : texts;
        }
    return load::names::parse_mapping(json.dump());
}

std::vector<std::string> name_choices(const NamesRow& row) {
    static constexpr std::array<const char*, 5> kTop = {"embed", "pos_embed", "embed_norm", "norm", "lm_head"};
    static constexpr std::array<const char*, 16> kParts = {"self_attn.q_proj",
                                                           "self_attn.k_proj",
                                                           "self_attn.v_proj",
                                                           "self_attn.o_proj",
                                                           "self_attn.{q,k,v}_proj",
                                                           "norm1",
                                                           "cross_attn.q_proj",
                                                           "cross_attn.k_proj",
                                                           "cross_attn.v_proj",
                                                           "cross_attn.o_proj",
                                                           "norm2",
                                                           "up_proj",
                                                           "gate_proj",
                                                           "down_proj",
                                                           "norm3",
                                                           "self_attn.q_norm"};
    const bool stacked = row.theirs.find('*') != std::string::npos;
    std::vector<std::string> choices;
    for (const char* side : {"", "encoder."}) {
        const auto add = [&](const std::string& name) {
            for (const char* ending : {".weight", ".bias"}) choices.push_back(side + name + ending);
        };
        if (stacked)
            for (const char* part : kParts) add("layers.*." + std::string(part));
        else
            for (const char* top : kTop) add(top);
    }
    return choices;
}

}  // namespace decoderscope::core
