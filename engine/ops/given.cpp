#include "engine/ops/given.h"

#include "engine/translate.h"

namespace decoderscope {

About Given::about() const {
    return {tr("given"), "y = the recorded values",  // not a message: a formula
            tr("Not computed here: these are the numbers that another program recorded, so that what follows runs on "
               "its input.")};
}

Explanation Given::explain(const Operands&, const Tensor&, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(values.at(cell)), tr("recorded"))})})}};
}

}  // namespace decoderscope
