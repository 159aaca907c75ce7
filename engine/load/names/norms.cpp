#include "engine/load/names/parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace decoderscope::load::names {

namespace {

using Kind = Sublayer::Kind;

Path parent(Path path) {
    if (!path.empty()) path.pop_back();
    return path;
}

Path common(const Path& a, const Path& b) {
    Path path;
    for (std::size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) path.push_back(a[i]);
    return path;
}

// The outermost module within the block that holds this sublayer and no other; empty if there is none.
Path container_of(const Sublayer& sublayer, const std::vector<Sublayer>& all) {
    Path path = sublayer.paths.size() == 1 ? parent(sublayer.paths.front()) : sublayer.paths.front();
    for (const Path& other : sublayer.paths) path = common(path, other);
    const auto holds_another = [&](const Path& container) {
        return std::ranges::any_of(all, [&](const Sublayer& other) {
            return &other != &sublayer &&
                   std::ranges::any_of(other.paths, [&](const Path& module) { return begins_with(module, container); });
        });
    };
    if (path.empty() || holds_another(path)) return {};
    while (path.size() > 1 && !holds_another(parent(path))) path = parent(path);
    return path;
}

// Called a norm, a gain with a shift, or a gain under the name of one; LayerScale's gamma isn't one.
bool is_called_norm(const Module& module) {
    const Words words = words_of(module.path);
    if (names_norm(words)) return true;
    if (!module.weight || any_is(words, {"ls"}) || any_has(words, {"scale"})) return false;
    const std::string ending = split(module.weight->name).back();
    return module.bias || ending == "gamma" || ending == "g" || ending == "a_2";
}

bool is_norm(const Module& module, const Context& context) {
    const auto fits = [&](const std::optional<StoredTensor>& tensor) {
        return !tensor || tensor->shape.empty() ||
               (tensor->shape.size() == 1 && (tensor->shape[0] == context.width || tensor->shape[0] == 1));
    };
    return fits(module.weight) && fits(module.bias) && is_called_norm(module);
}

class Giver {
public:
    Giver(Modules norms, const std::vector<Sublayer>& sublayers) : norms_(std::move(norms)), sublayers_(sublayers) {
        for (const Sublayer& sublayer : sublayers) containers_.push_back(container_of(sublayer, sublayers));
    }

    std::vector<Assigned> take() {
        by_our_names();
        by_place();
        by_words();
        by_number();
        return std::move(given_);
    }

private:
    [[nodiscard]] bool is_free(const std::string& name) const {
        return std::ranges::none_of(given_, [&](const Assigned& norm) { return norm.name == name; });
    }

    // Gives every norm for which `name_of` finds a free name.
    template <class NameOf>
    void give(NameOf name_of) {
        std::erase_if(norms_, [&](const Module& norm) {
            const std::string name = name_of(norm);
            if (name.empty() || !is_free(name)) return false;
            given_.push_back({norm, name});
            return true;
        });
    }

    // norm1 and norm1_post, as the contract has them.
    void by_our_names() {
        const auto ours = [&](const Module& norm) -> std::string {
            const std::string& name = norm.path.back();
            const bool known = std::ranges::any_of(
                sublayers_, [&](const Sublayer& s) { return name == s.norm || name == s.norm + "_post"; });
            return norm.path.size() == 1 && known ? name : std::string();
        };
        const bool any_behind =
            std::ranges::any_of(norms_, [&](const Module& norm) { return ours(norm).ends_with("_post"); });
        if (any_behind) give(ours);
    }

    // Within a sublayer's module, or beside its matrices ("output.LayerNorm" beside "output.dense").
    void by_place() {
        give([&](const Module& norm) -> std::string {
            for (std::size_t i = 0; i < sublayers_.size(); ++i) {
                const bool within = !containers_[i].empty() && begins_with(norm.path, containers_[i]);
                const bool beside =
                    norm.path.size() > 1 && std::ranges::any_of(sublayers_[i].paths, [&](const Path& path) {
                        return path.size() > 1 && parent(path) == parent(norm.path);
                    });
                const bool unique = std::ranges::count_if(sublayers_, [&](const Sublayer& other) {
                                        return std::ranges::any_of(other.paths, [&](const Path& path) {
                                            return path.size() > 1 && parent(path) == parent(norm.path);
                                        });
                                    }) == 1;
                if (within || (beside && unique)) return sublayers_[i].norm;
            }
            return {};
        });
    }

    [[nodiscard]] const Sublayer* of(Kind kind) const {
        const auto found = std::ranges::find(sublayers_, kind, &Sublayer::kind);
        return found != sublayers_.end() ? &*found : nullptr;
    }

    // The sublayer that a norm is called after.
    [[nodiscard]] const Sublayer* called_after(const Words& words) const {
        if (const Sublayer* cross = of(Kind::cross_attention);
            cross != nullptr && names_encoder(words) && !any_is(words, {"self", "slf"}))
            return cross;
        if (names_feed_forward(words) || any_is(words, {"final", "output"}))
            return sublayers_.empty() ? nullptr : &sublayers_.back();
        if (names_attention(words) || any_is(words, {"self", "slf", "input"})) return of(Kind::self_attention);
        return nullptr;
    }

    void by_words() {
        const auto after = [](const Words& words) { return any_is(words, {"post"}); };
        // Gemma 2 and OLMo 2 have norms after the feed-forward, too; otherwise Llama's post_attention_layernorm is the
        // feed-forward's own.
        const bool behind = std::ranges::any_of(norms_, [&](const Module& norm) {
            const Words words = words_of(norm.path);
            return (after(words) || any_is(words, {"pre"})) && names_feed_forward(words);
        });
        give([&](const Module& norm) -> std::string {
            const Words words = words_of(norm.path);
            const Sublayer* sublayer = called_after(words);
            if (sublayer == nullptr) return {};
            if (!after(words)) return sublayer->norm;
            if (behind) return sublayer->norm + "_post";
            return sublayer->kind == Kind::feed_forward || sublayers_.empty() ? std::string() : next(*sublayer);
        });
    }

    [[nodiscard]] std::string next(const Sublayer& sublayer) const {
        const auto at = static_cast<std::size_t>(&sublayer - sublayers_.data());
        return at + 1 < sublayers_.size() ? sublayers_[at + 1].norm : std::string();
    }

    // Among what stands in the same module, in the order of their numbers: a norm1 within a module that holds the
    // second and third sublayer is the second's.
    void by_number() {
        std::vector<const Sublayer*> waiting;
        for (const Sublayer& sublayer : sublayers_)
            if (is_free(sublayer.norm) && is_free(sublayer.norm + "_post")) waiting.push_back(&sublayer);
        if (norms_.size() > waiting.size())  // a final norm beside a single block
            if (Modules numbered = norms_;
                std::erase_if(numbered, is_unnumbered) > 0 && numbered.size() == waiting.size())
                return in_turn(numbered, waiting);
        std::map<Path, std::pair<Modules, std::vector<const Sublayer*>>> places;
        for (const Sublayer* sublayer : waiting) places[holder_of(*sublayer)].second.push_back(sublayer);
        for (const Module& norm : norms_) {
            Path path = parent(norm.path);
            while (!path.empty() && !places.contains(path)) path = parent(path);
            if (const auto place = places.find(path); place != places.end()) place->second.first.push_back(norm);
        }
        const bool even = std::ranges::all_of(
            places, [](const auto& place) { return place.second.first.size() == place.second.second.size(); });
        if (!even && norms_.size() == waiting.size()) return in_turn(norms_, waiting);
        if (!even && norms_.size() == 1 && sublayers_.size() == 2 && waiting.size() == 2 &&
            sublayers_[1].kind == Kind::feed_forward)
            return in_turn(norms_, {waiting.front()});  // one norm for both, in parallel
        for (const auto& [path, place] : places)
            if (place.first.size() == place.second.size()) in_turn(place.first, place.second);
    }

    static bool is_unnumbered(const Module& norm) { return last_number(words_of(norm.path)) < 0; }

    [[nodiscard]] Path holder_of(const Sublayer& sublayer) const {
        return parent(containers_[static_cast<std::size_t>(&sublayer - sublayers_.data())]);
    }

    void in_turn(Modules norms, const std::vector<const Sublayer*>& sublayers) {
        // Several without numbers have no order.
        if (norms.size() > 1 && std::ranges::count_if(norms, is_unnumbered) > 1) return;
        std::ranges::stable_sort(norms, {}, [](const Module& norm) { return last_number(words_of(norm.path)); });
        for (std::size_t i = 0; i < norms.size() && i < sublayers.size(); ++i) {
            given_.push_back({norms[i], sublayers[i]->norm});
            std::erase_if(norms_, [&](const Module& norm) { return norm.name() == norms[i].name(); });
        }
    }

    Modules norms_;
    const std::vector<Sublayer>& sublayers_;
    std::vector<Path> containers_;
    std::vector<Assigned> given_;
};

}  // namespace

std::vector<Assigned> take_norms(Modules& modules, const std::vector<Sublayer>& sublayers, const Context& context) {
    Modules norms;
    for (const Module& module : modules)
        if (is_norm(module, context)) norms.push_back(module);
    std::vector<Assigned> given = Giver(std::move(norms), sublayers).take();
    for (Assigned& norm : given) {
        std::erase_if(modules, [&](const Module& module) { return module.name() == norm.module.name(); });
        const auto& gain = norm.module.weight;
        if (gain && context.width > 1 && (gain->shape.empty() || gain->shape == std::vector<Index>{1}))
            norm.how = RowLayout::repeated;
    }
    return given;
}

}  // namespace decoderscope::load::names
