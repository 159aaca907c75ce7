#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/wrong_mask.h"
#include "engine/ops/carry.h"

namespace decoderscope::mutations_of {

void encoder(std::vector<Mutation>& list) {
    list.push_back({.name = "encoder-not-normed",
                    .cause = message("The memory is taken before the encoder's final norm."),
                    .change = [](Plan& plan, const Config&) {
                        if (const Ref norm = plan.find("encoder.ln_final.normalized"))
                            plan.replace(norm->id, Carry{}, {norm->operands[0]});
                    }});
    list.push_back({.name = "memory-is-source-embedding",
                    .cause = message("Cross-attention reads the source's embedding: the encoder's blocks are not run."),
                    .change = [](Plan& plan, const Config&) {
                        const Ref entering = plan.find("encoder.blocks.0.resid_pre");
                        const Ref out = plan.find("encoder_out");
                        if (entering != nullptr && out != nullptr) plan.replace(out->id, Carry{}, {entering->id});
                    }});
    list.push_back({.name = "cross-attention-reads-target",
                    .cause = message("Cross-attention takes keys and values from the target instead of the memory."),
                    .change = [](Plan& plan, const Config&) {
                        for (const std::string& attention : sites::attentions(plan, Part::cross_attention)) {
                            const Ref q = plan.find(attention + ".q");
                            for (const char* name : {".k", ".v"}) {
                                const Ref step = plan.find(attention + name);
                                if (q == nullptr || step == nullptr || q->axes[2].size != step->axes[2].size) continue;
                                std::vector<StepId> read = step->operands;
                                if (!read.empty()) read[0] = q->operands[0];
                                plan.replace(step->id, step->operation, read);
                            }
                        }
                    }});
    list.push_back(
        {.name = "causal-encoder",
         .cause = message("The encoder has a causal mask; it should see the whole source."),
         .change = [](Plan& plan, const Config&) {
             for (const std::string& attention : sites::attentions(plan)) {
                 const Ref mask = plan.find(attention + ".mask");
                 if (mask != nullptr && mask->in_encoder())
                     plan.replace(mask->id, WrongMask{mask->operation, WrongMask::Kind::shifted, 0}, mask->operands);
             }
         }});
}

}  // namespace decoderscope::mutations_of
