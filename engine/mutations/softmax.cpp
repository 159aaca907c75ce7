#include "engine/ops/softmax.h"
#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/then.h"
#include "engine/mutations/wrong_softmax.h"
#include "engine/ops/carry.h"

namespace decoderscope::mutations_of {

namespace {

std::function<void(Plan&, const Config&)> pattern_by(const Operation& operation) {
    return [operation](Plan& plan, const Config&) {
        for (const std::string& attention : sites::attentions(plan))
            if (const Ref pattern = plan.find(attention + ".pattern"))
                plan.replace(pattern->id, operation, pattern->operands);
    };
}

}  // namespace

void softmax(std::vector<Mutation>& list) {
    list.push_back({.name = "softmax-over-queries",
                    .cause = message("The softmax sums over queries instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{2})});
    list.push_back({.name = "softmax-over-heads",
                    .cause = message("The softmax sums over heads instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{1})});
    list.push_back({.name = "softmax-over-batch",
                    .cause = message("The softmax sums over the batch instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{0})});
    list.push_back({.name = "no-softmax",
                    .cause = message("There is no softmax: the scores themselves are the weights."),
                    .change = pattern_by(Carry{})});
    list.push_back({.name = "softmax-twice",
                    .cause = message("The softmax is taken twice."),
                    .change = pattern_by(Then{Softmax{}, Softmax{}})});
}

}  // namespace decoderscope::mutations_of
