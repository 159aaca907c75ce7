#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
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
    list.push_back({.name = "heads-strided",
                    .cause = message("The columns of query, key and value are dealt out to the heads in turn, not head "
                                     "by head."),
                    .change = [](Plan& plan, const Config&) { split(plan, WrongHeads::Kind::strided); }});
}

}  // namespace decoderscope::mutations_of
