#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/tiled_heads.h"
#include "engine/mutations/wrong_heads.h"

namespace decoderscope::mutations_of {

namespace {

void split(Plan& plan, WrongHeads::Kind kind) {
    for (const char* name : {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"}) {
        for (const StepId id : sites::readers(plan, name)) {
            const Index heads = plan[id].axes[1].size;
            if (heads > 1) plan.replace(id, WrongHeads{heads, kind}, plan[id].operands);
        }
    }
}

void join(Plan& plan, const Config& config) {
    if (config.nhead == 1) return;
    for (const std::string& attention : sites::attentions(plan))
        if (const Ref out = plan.find(attention + "_out")) plan.replace(out->id, JoinByView{}, out->operands);
}

// The steps that read a step as their second operand, with more heads than it has.
std::vector<StepId> readers_of(const Plan& plan, StepId few) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operands.size() == 2 && step.operands[1] == few && step.axes[1].size > plan[few].axes[1].size)
            found.push_back(step.id);
    return found;
}

// What reads the keys and values of fewer heads reads them in turn.
void tile(Plan& plan, const Config& config) {
    if (config.num_key_value_heads == config.nhead) return;
    for (const std::string& attention : sites::attentions(plan))
        for (const char* name : {".k", ".v"})
            if (const Ref few = plan.find(attention + name))
                for (const StepId reader : readers_of(plan, few->id))
                    plan.replace(reader, TiledHeads{plan[reader].operation}, plan[reader].operands);
}

}  // namespace

void heads(std::vector<Mutation>& list) {
    list.push_back({.name = "heads-by-view",
                    .cause = message("Heads are split by a reshape without the transpose: positions and heads are "
                                     "mixed."),
                    .change = [](Plan& plan, const Config&) { split(plan, WrongHeads::Kind::by_view); }});
    list.push_back({.name = "heads-by-view-both-ways",
                    .cause = message("Heads are split and joined by reshapes without the transpose: positions and "
                                     "heads are mixed."),
                    .change = [](Plan& plan, const Config& config) {
                        split(plan, WrongHeads::Kind::by_view);
                        join(plan, config);
                    }});
    list.push_back({.name = "heads-joined-by-view",
                    .cause = message("Heads are joined by a reshape without the transpose back."),
                    .change = join});
    list.push_back({.name = "key-heads-tiled",
                    .cause = message("Keys and values of fewer heads are repeated as a whole (0 1 0 1), where each is "
                                     "meant for neighbouring queries (0 0 1 1)."),
                    .change = tile});
    list.push_back({.name = "heads-strided",
                    .cause = message("The columns of query, key and value are dealt out to the heads in turn, not head "
                                     "by head."),
                    .change = [](Plan& plan, const Config&) { split(plan, WrongHeads::Kind::strided); }});
}

}  // namespace decoderscope::mutations_of
