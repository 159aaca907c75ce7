#include "engine/load/names/parts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace decoderscope::load::names {

namespace {

using Kind = Sublayer::Kind;

Path common(const Path& a, const Path& b) {
    const auto end = std::ranges::mismatch(a, b).in1;
    return {a.begin(), end};
}

bool any_part(const Sublayer& sublayer, auto is) {
    return std::ranges::any_of(sublayer.parts, [&](const Assigned& part) { return is(part.module.path); });
}

// The outermost module within the block that holds this sublayer and no other; empty if there is none.
Path container_of(const Sublayer& sublayer, const std::vector<Sublayer>& all) {
    const Path& first = sublayer.parts.front().module.path;
    Path path = sublayer.parts.size() == 1 ? parent(first) : first;
    for (const Assigned& part : sublayer.parts) path = common(path, part.module.path);
    const auto holds_another = [&](const Path& container) {
        return std::ranges::any_of(all, [&](const Sublayer& other) {
            return &other != &sublayer &&
                   any_part(other, [&](const Path& module) { return begins_with(module, container); });
        });
    };
    if (path.empty() || holds_another(path)) return {};
    while (path.size() > 1 && !holds_another(parent(path))) path = parent(path);
    return path;
}

// Called a norm, a gain with a shift, or a gain under the name of one; LayerScale's gamma isn't one.
bool is_norm(const Module& module, const Context& context) {
    if (module.path.empty()) return false;  // the block's own "beta"
    for (const auto& tensor : {module.weight, module.bias})
        if (tensor && !tensor->shape.empty() &&
            (tensor->shape.size() > 1 || (tensor->shape[0] != context.width && tensor->shape[0] != 1)))
            return false;
    if (module.says("norm")) return true;
    if (!module.weight || module.says("no_norm")) return false;
    const std::string ending = split(module.weight->name).back();
    return module.bias || ending == "gamma" || ending == "g" || ending == "a_2";
}

bool is_after(const Module& norm) { return norm.says("post"); }
bool is_after_self(const Module& norm) { return is_after(norm) && norm.says("itself"); }
bool is_unnumbered(const Module& norm) { return last_number(words_of(norm.path)) < 0; }
// "nc" beside "n1" and "n2".
bool is_of_cross(const Module& norm) { return norm.path.back().size() == 2 && norm.path.back().back() == 'c'; }

class Giver {
public:
    Giver(Modules norms, const std::vector<Sublayer>& sublayers) : norms_(std::move(norms)), sublayers_(sublayers) {
        for (const Sublayer& sublayer : sublayers) containers_.push_back(container_of(sublayer, sublayers));
    }

    std::vector<Assigned> take() {
        // norm1 and norm1_post, as the contract has them.
        const auto ours = [&](const Module& norm) -> std::string {
            const std::string& name = norm.path.back();
            const bool known = std::ranges::any_of(
                sublayers_, [&](const Sublayer& s) { return name == s.norm || name == s.norm + "_post"; });
            return norm.path.size() == 1 && known ? name : std::string();
        };
        if (std::ranges::any_of(norms_, [&](const Module& norm) { return ours(norm).ends_with("_post"); })) give(ours);
        give([&](const Module& norm) { return by_place(norm); });
        by_words();
        by_number();
        return std::move(given_);
    }

private:
    [[nodiscard]] bool is_free(const std::string& name) const {
        return std::ranges::find(given_, name, &Assigned::name) == given_.end();
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

    // Within a sublayer's module, or beside its matrices and no other's ("output.LayerNorm" beside "output.dense").
    [[nodiscard]] std::string by_place(const Module& norm) const {
        const auto beside = [&](const Sublayer& sublayer) {
            return any_part(sublayer,
                            [&](const Path& path) { return path.size() > 1 && parent(path) == parent(norm.path); });
        };
        const bool unique = norm.path.size() > 1 && std::ranges::count_if(sublayers_, beside) == 1;
        for (std::size_t i = 0; i < sublayers_.size(); ++i)
            if ((!containers_[i].empty() && begins_with(norm.path, containers_[i])) ||
                (unique && beside(sublayers_[i])))
                return sublayers_[i].norm;
        return {};
    }

    // The sublayer that a norm is called after; the end if there is none.
    using At = std::vector<Sublayer>::const_iterator;
    [[nodiscard]] At called_after(const Module& norm) const {
        const auto of = [&](Kind kind) { return std::ranges::find(sublayers_, kind, &Sublayer::kind); };
        if (const At cross = of(Kind::cross_attention);
            cross != sublayers_.end() && (is_of_cross(norm) || (norm.says("encoder") && !norm.says("itself"))))
            return cross;
        if (norm.says("feed_forward") || norm.says("last_norm"))
            return sublayers_.empty() ? sublayers_.end() : sublayers_.end() - 1;
        return norm.says("attention") || norm.says("first_norm") ? of(Kind::self_attention) : sublayers_.end();
    }

    void by_words() {
        // GLM-4's post_self_attn_layernorm stands behind attention, and its post_attention_layernorm before the
        // feed-forward.
        const bool says_self = std::ranges::any_of(norms_, is_after_self);
        // Gemma 2 and OLMo 2 have norms after the feed-forward, too; otherwise Llama's post_attention_layernorm is the
        // feed-forward's own.
        const bool behind = std::ranges::any_of(norms_, [&](const Module& norm) {
            return (is_after(norm) || norm.says("pre")) && norm.says("feed_forward");
        });
        give([&](const Module& norm) -> std::string {
            const At sublayer = called_after(norm);
            if (sublayer == sublayers_.end()) return {};
            if (!is_after(norm)) return sublayer->norm;
            const bool feeds = sublayer->kind == Kind::feed_forward;
            if (behind && (!says_self || is_after_self(norm) || feeds)) return sublayer->norm + "_post";
            return feeds || sublayer + 1 == sublayers_.end() ? std::string() : (sublayer + 1)->norm;
        });
    }

    // Among what stands in the same module, in the order of their numbers: a norm1 within a module that holds the
    // second and third sublayer is the second's.
    void by_number() {
        using Waiting = std::vector<const Sublayer*>;
        Waiting waiting;
        for (const Sublayer& sublayer : sublayers_)
            if (is_free(sublayer.norm) && is_free(sublayer.norm + "_post")) waiting.push_back(&sublayer);
        if (norms_.size() > waiting.size())  // a final norm beside a single block
            if (Modules numbered = norms_;
                std::erase_if(numbered, is_unnumbered) > 0 && numbered.size() == waiting.size())
                return in_turn(numbered, waiting);
        std::map<Path, std::pair<Modules, Waiting>> places;
        for (const Sublayer* sublayer : waiting)
            places[parent(containers_[static_cast<std::size_t>(sublayer - sublayers_.data())])].second.push_back(
                sublayer);
        for (const Module& norm : norms_) {
            Path path = parent(norm.path);
            while (!path.empty() && !places.contains(path)) path = parent(path);
            if (const auto place = places.find(path); place != places.end()) place->second.first.push_back(norm);
        }
        const auto is_even = [](const auto& place) { return place.second.first.size() == place.second.second.size(); };
        if (!std::ranges::all_of(places, is_even)) {
            if (norms_.size() == waiting.size()) return in_turn(norms_, waiting);
            if (norms_.size() == 1 && sublayers_.size() == 2 && waiting.size() == 2 &&
                sublayers_[1].kind == Kind::feed_forward)
                return in_turn(norms_, {waiting.front()});  // one norm for both, in parallel
        }
        for (const auto& place : places)
            if (is_even(place)) in_turn(place.second.first, place.second.second);
    }

    void in_turn(Modules norms, const std::vector<const Sublayer*>& sublayers) {
        // Several without numbers have no order.
        if (norms.size() > 1 && std::ranges::count_if(norms, is_unnumbered) > 1) return;
        std::ranges::stable_sort(norms, {}, [](const Module& norm) { return last_number(words_of(norm.path)); });
        for (std::size_t i = 0; i < norms.size() && i < sublayers.size(); ++i) {
            given_.push_back({norms[i], sublayers[i]->norm});
            drop(norms_, norms[i]);
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
    std::ranges::copy_if(modules, std::back_inserter(norms), [&](const Module& m) { return is_norm(m, context); });
    // As many gains under a letter and a number ("n1") as there are sublayers are their norms.
    if (norms.empty()) {
        std::ranges::copy_if(modules, std::back_inserter(norms), [&](const Module& m) {
            return m.weight && m.path.size() == 1 && m.weight->shape == std::vector<Index>{context.width} &&
                   (is_of_cross(m) || (m.last_words().size() == 2 && !is_unnumbered(m))) && !m.says("no_norm");
        });
        if (norms.size() != sublayers.size()) norms.clear();
    }
    std::vector<Assigned> given = Giver(std::move(norms), sublayers).take();
    for (Assigned& norm : given) {
        drop(modules, norm.module);
        if (norm.module.is_one_number() && context.width > 1) norm.how = RowLayout::repeated;
    }
    return given;
}

}  // namespace decoderscope::load::names
