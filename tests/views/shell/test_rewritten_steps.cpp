// A step whose formula a person wrote keeps its name and shape, and loses what the program knew of its operation: which
// operand is the scores, which the weight. Every tab, and what is asked of a cell there, outlives it.
#include "app/views/frame/tab.h"
#include "engine/formulas/print.h"
#include "engine/ops/written_formula.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <set>
#include <string>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

// "blocks.0.attn.z" of the first block stands for all that are called z there.
std::string kind_of(const std::string& name) {
    std::string kind;
    for (const char c : name)
        if (c < '0' || c > '9') kind += c;
    return kind;
}

}  // namespace

TEST_CASE("every tab outlives another formula of any step", "[long]") {
    for (const char* model : {"causal-lm-as-meant", "experts", "post-ln-encdec", "reverse"}) {
        const Driver first(model);
        std::set<std::string> kinds;
        for (const Step& step : first.session.shown().run->plan().steps()) {
            if (step.is_source() || !kinds.insert(kind_of(step.name)).second) continue;
            const auto by = ops::formula_of(step.operation);
            if (!by || step.role == Role::on_demand) continue;
            Driver d(model);
            d.session.apply(command::MakeEdit{RewriteStep{step.name, formulas::text_of(by->written())}, {step.name}});
            d.settle();
            REQUIRE(d.session.scenario().edits.size() == 1);
            INFO(model << ": " << step.name);
            d.session.apply(command::GoTo{step.name});
            d.session.apply(command::SelectCell{Cell(step.axes.size(), 0)});
            for (const views::Tab& tab : views::tabs()) {
                INFO(tab.id);
                d.state.tab = tab.id;
                d.settle();
                CHECK_FALSE(d.sees("can'tbedrawn"));
            }
        }
    }
}
