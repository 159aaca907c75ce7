#include "engine/ops/given.h"

#include "engine/base/translate.h"

#include <array>
#include <string_view>

namespace decoderscope::ops {

OpDescription Given::about() const {
    return {tr("given"), "y = the recorded values",  // not a message: a formula
            tr("Not computed here: these are the numbers that another program recorded, so that what follows runs on "
               "its input.")};
}

Explanation Given::explain(const Operands&, const Tensor&, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(values.at(cell)), tr("recorded"))})})}};
}

OpDescription Recorded::about() const {
    return {what.empty() ? std::string_view(tr("recorded elsewhere")) : std::string_view(what),
            tr("recorded elsewhere: no weights to explain it"),
            tr("Another program computed this, and only its result was recorded. The arrows lead to what it was "
               "computed from, as far as that was recorded, too; without the weights the computation can't be "
               "repeated. If the recording contains the parameters, it can be opened as a model.")};
}

Explanation Recorded::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    std::array<float, 1> value = {};
    out.copy(out.offset(cell), value);
    return {{line(tr("recorded elsewhere"), {term({constant_factor(static_cast<double>(value[0]), "")})})}};
}

}  // namespace decoderscope::ops
