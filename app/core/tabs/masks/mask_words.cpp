#include "app/core/tabs/masks/mask_words.h"

#include "app/core/figure/heatmap.h"
#include "engine/base/tables.h"

#include <algorithm>
#include <array>

namespace decoderscope::core::masks {

namespace {

// The masks that an attention may have, by their keys in the table, and as a sentence calls them.
struct KindOfMask {
    std::uint8_t cause;
    std::string_view key;
    Phrase title;
};
constexpr std::string_view kPainted = "painted";
constexpr std::array kKindsOfMasks = {
    KindOfMask{hidden_by::causal, "causal", message("causal mask")},
    KindOfMask{hidden_by::window, "window", message("window")},
    KindOfMask{hidden_by::padding, "padding", message("padding")},
    KindOfMask{hidden_by::segments, "documents", message("documents")},
    KindOfMask{hidden_by::custom, "drawn", message("drawn mask")},
    KindOfMask{hidden_by::hand, kPainted, message("what was painted")},
};

using Kinds = std::vector<const KindOfMask*>;

// What was painted overrides all others: the mask is then what it is on screen.
Kinds kinds_of(const Step& mask) {
    Kinds kinds;
    if (!mask.patches.empty()) return {&kKindsOfMasks.back()};
    const Masks acting = mask.operation.traits().masks.value_or(Masks{0});
    for (const KindOfMask& kind : kKindsOfMasks)
        if ((acting & kind.cause) != 0) kinds.push_back(&kind);
    return kinds;
}

std::string with(const std::string& code, const Arguments& arguments) {
    return filled(code, arguments, [](const Sentence& sentence) { return sentence.english(); });
}

// One API's entry, and the code of its language.
class Entry {
public:
    Entry(const OrderedJson& api, const OrderedJson& languages, Index window)
        : api_(api), language_(languages.at(text("language"))), window_(window) {}

    [[nodiscard]] MaskInWords words(const Kinds& kinds, bool crosses) const {
        MaskInWords words{.api = text("api"),
                          .kept = text("kept"),
                          .hidden = text("hidden"),
                          .code = {},
                          .empty_row = asset_phrase(text("title")),
                          .caution = api_.contains("why") ? Sentence(asset_phrase(text("why"))) : Sentence(),
                          .unsaid = {},
                          .source = text("source")};
        const Kinds rest = without_own(kinds);
        const bool makes_mask = !rest.empty() && api_.contains("keep");
        if (makes_mask) words.code = making(rest);
        const char* call = crosses && api_.contains("cross_call") ? "cross_call" : "call";
        words.code.push_back(with(text(call), {{"arguments", arguments(kinds, rest)}}));
        if (!rest.empty() && !makes_mask) words.unsaid = names_of(rest);
        return words;
    }

private:
    [[nodiscard]] std::string text(const char* key) const { return api_.value(key, std::string()); }
    [[nodiscard]] std::string code(const OrderedJson& from, std::string_view key) const {
        return with(from.at(std::string(key)).get<std::string>(), {{"window", window_}});
    }

    // Whether it has an argument for this mask beside these others.
    [[nodiscard]] bool has_argument(const KindOfMask& kind, const Kinds& all) const {
        const std::string key(kind.key);
        if (!api_.contains("arguments") || !api_["arguments"].contains(key)) return false;
        const auto has = [&](const OrderedJson& other) {
            return std::ranges::any_of(all, [&](const KindOfMask* one) { return other == std::string(one->key); });
        };
        if (api_.contains("only_with") && api_["only_with"].contains(key) && !has(api_["only_with"][key])) return false;
        if (!api_.contains("alone") || all.size() == 1) return true;
        return std::ranges::none_of(api_["alone"], [&](const OrderedJson& alone) { return alone == key; });
    }
    [[nodiscard]] Kinds without_own(const Kinds& kinds) const {
        Kinds rest;
        for (const KindOfMask* kind : kinds)
            if (!has_argument(*kind, kinds)) rest.push_back(kind);
        return rest;
    }

    [[nodiscard]] std::string arguments(const Kinds& kinds, const Kinds& rest) const {
        const std::string separator = api_.value("separator", std::string(", "));
        std::string all;
        const auto add = [&](const std::string& argument) {
            if (!argument.empty()) all += separator + argument;
        };
        for (const KindOfMask* kind : kinds)
            if (has_argument(*kind, kinds)) add(code(api_["arguments"], kind->key));
        if (rest.empty() || !api_.contains("keep")) return all;
        const bool by_row = std::ranges::any_of(rest, [](const KindOfMask* kind) {
            return kind->cause != hidden_by::causal && kind->cause != hidden_by::window;
        });
        add(by_row && api_.contains("keep_by_row") ? text("keep_by_row") : text("keep"));
        return all;
    }

    // The lines that make a mask of these.
    [[nodiscard]] std::vector<std::string> making(const Kinds& kinds) const {
        std::vector<std::string> lines = {code(language_, "start")};
        if (kinds.front()->key == kPainted && !language_.contains("join")) return {code(language_, kPainted)};
        for (const KindOfMask* kind : kinds) {
            const std::string line = code(language_, kind->key);
            if (!language_.contains("join"))
                lines.push_back(line);
            else
                lines.back() += (kind == kinds.front() ? "" : code(language_, "join")) + line;
        }
        return lines;
    }

    static Sentence names_of(const Kinds& kinds) {
        Sentence names(kinds.front()->title);
        for (std::size_t i = 1; i < kinds.size(); ++i)
            names = message("{first}, {next}", {{"first", names}, {"next", kinds[i]->title}});
        return names;
    }

    const OrderedJson& api_;
    const OrderedJson& language_;
    Index window_;
};

}  // namespace

std::vector<MaskInWords> in_other_words(const Scenario& scenario, const Plan& plan, std::string_view attention) {
    const Step& mask = *plan.step_of(attention, AttentionStep::mask);
    const Ref pattern = plan.step_of(attention, AttentionStep::pattern);
    const bool crosses = pattern != nullptr && pattern->part == Part::cross_attention;
    const Index window = scenario.computes() ? scenario.config().window_of(mask.layer) : 0;
    const OrderedJson& table = asset_table("mask_words");
    std::vector<MaskInWords> all;
    for (const OrderedJson& api : table.at("apis"))
        all.push_back(Entry(api, table.at("languages"), window).words(kinds_of(mask), crosses));
    return all;
}

}  // namespace decoderscope::core::masks
