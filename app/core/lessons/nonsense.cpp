#include "app/core/lessons/nonsense.h"

#include "app/core/lessons/writing.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

constexpr std::array kNumbers = {0.0, 1.0, -1.0, 999.0, 1e9, -1e9, std::numeric_limits<double>::quiet_NaN()};

// Calls `visit` with every cell of a tensor.
template <class Visit>
void each_cell(const Tensor& tensor, Visit visit) {
    Cell cell(tensor.axes().size(), 0);
    for (Index left = tensor.size(); left > 0; --left) {
        visit(cell);
        for (std::size_t i = cell.size(); i-- > 0;) {
            if (++cell[i] < tensor.axes()[i].size) break;
            cell[i] = 0;
        }
    }
}

struct Nonsense {
    const Asked& asked;
    const Place* at;
    std::vector<Sentence> passed = {};

    [[nodiscard]] const Ran& now() const { return asked.runs.now(); }

    // Whether it passes; what can't be done or judged doesn't.
    template <class Done>
    void attempt(const Sentence& what, Done done) {
        if (made_or(false, done)) passed.push_back(what);
    }

    // ---- a number

    void operator()(const ByNumber&) {
        for (const double number : {-1.0, 1e9, -1e9, std::numeric_limits<double>::quiet_NaN()})
            attempt(message("the number {number}", {{"number", shown_text(single(number))}}),
                    [&] { return judge(asked, NumberAnswer{number}).right; });
    }

    // ---- a cell

    // The step and the cell that the lesson has selected; without a cell if it has selected none.
    [[nodiscard]] std::optional<Spot> lit() const {
        if (at == nullptr || at->step.empty()) return {};
        return made_or(std::optional<Spot>(), [&] {
            return std::optional(spot_of({at->step, at->cell}, asked.scope()));
        });
    }

    // The largest or the smallest number among some cells of a step.
    template <class Among>
    [[nodiscard]] std::optional<Cell> extreme(const std::string& step, double sign, Among among) const {
        const Tensor values = asked.runs.tensor(now(), step);
        std::optional<Cell> best;
        each_cell(values, [&](const Cell& cell) {
            if (among(cell) && !std::isnan(values.at(cell)) &&
                (!best || sign * values.at(cell) > sign * values.at(*best)))
                best = cell;
        });
        return best;
    }

    void point(const Sentence& what, const std::string& step, const std::optional<Cell>& cell) {
        attempt(what, [&] { return judge(asked, PointedAnswer{step, cell}).right; });
    }

    void operator()(const ByPoint& by) {
        const std::optional<Spot> here = lit();
        if (here) point(message("what is selected already"), here->step, here->cell);
        if (by.solution.cell.empty()) return;
        const std::string& step = here ? here->step : by.solution.step;
        const Ref found = now().run->plan().find(step);
        if (found == nullptr) return;
        // What is on the stage: one batch row, one head.
        const auto fixed = [&](std::string_view axis) -> Index {
            if (axis == "head" && at != nullptr && at->head)
                return static_cast<Index>(std::llround(number_of(evaluate(*at->head, asked.scope()))));
            for (std::size_t i = 0; i < found->axes.size(); ++i)
                if (here && here->cell && found->axes[i].name == axis) return (*here->cell)[i];
            return 0;
        };
        const auto along = [&](const Cell& cell, const auto&... axes) {
            bool all = true;
            for (std::size_t i = 0; i < cell.size(); ++i)
                if (((found->axes[i].name == axes) || ...)) all = all && cell[i] == fixed(found->axes[i].name);
            return all;
        };
        const auto on_stage = [&](const Cell& cell) { return along(cell, "batch", "head"); };
        const auto in_row = [&](const Cell& cell) { return along(cell, "batch", "head", "pos", "query"); };
        point(message("the brightest cell on the stage"), step, extreme(step, 1.0, on_stage));
        point(message("the darkest cell on the stage"), step, extreme(step, -1.0, on_stage));
        if (here && here->cell)
            point(message("the brightest cell of the selected row"), step, extreme(step, 1.0, in_row));
        point(message("the first cell of the stage"), step, Cell(found->axes.size(), 0));
    }

    // ---- an action

    void act(const Sentence& what, Scenario scenario) {
        if (made_by_solution(scenario)) return;
        attempt(what, [&] {
            const auto opened = std::make_shared<const Scenario>(*asked.opened);
            Runs other(std::move(scenario), nullptr, opened);
            return judge({asked.lesson, asked.question, other, asked.opened}, RunAnswer{}).right;
        });
    }
    [[nodiscard]] bool made_by_solution(const Scenario& scenario) const {
        const auto& by = std::get<ByRun>(asked.question.answer);
        const Scenario solved = changed(*asked.opened, by.solution);
        return solved.edits == scenario.edits && solved.edits != asked.opened->edits;
    }

    void type(const Sentence& what, const std::string& text) {
        for (std::optional<std::string> Changes::*line : {&Changes::target, &Changes::source}) {
            Changes changes;
            changes.*line = text;
            if (std::optional<Scenario> typed =
                    made_or(std::optional<Scenario>(), [&] { return std::optional(changed(*asked.opened, changes)); }))
                act(what, std::move(*typed));
        }
    }

    template <class Add>
    void edit(const Sentence& what, Add add) {
        Scenario scenario = *asked.opened;
        add(scenario.edits);
        act(what, std::move(scenario));
    }

    void operator()(const ByRun&) {
        for (const std::string text : {"", " ", "a"}) type(message("the text \"{text}\"", {{"text", text}}), text);
        type(message("a key that is held down"), "aaaaaaaaaaaaaaaa");
        switch_off();
        if (const std::optional<Spot> here = lit()) write_over(*here);
    }

    void switch_off() {
        std::set<std::string> attentions;
        for (const Step& step : now().run->plan().steps())
            if (!step.attention.empty()) attentions.insert(step.attention);
        const auto off = [&](std::vector<Edit>& edits, const std::string& attention) {
            for (Index head = 0; head < asked.opened->query_heads(); ++head)
                edits.emplace_back(ScaleHead{attention, head, 0.0F});
        };
        edit(message("all heads off"), [&](std::vector<Edit>& edits) {
            for (const std::string& attention : attentions) off(edits, attention);
        });
        for (const std::string& attention : attentions) {
            edit(message("all heads of {attention} off", {{"attention", attention}}),
                 [&](std::vector<Edit>& edits) { off(edits, attention); });
            for (const bool keep : {false, true})
                edit(keep ? message("{attention} with nothing hidden", {{"attention", attention}})
                          : message("{attention} with everything hidden", {{"attention", attention}}),
                     [&](std::vector<Edit>& edits) {
                         MaskEdit mask;
                         mask.attention = attention;
                         mask.keep = keep;
                         edits.emplace_back(mask);
                     });
        }
    }

    void write_over(const Spot& here) {
        const Ref found = now().run->plan().find(here.step);
        if (found == nullptr) return;
        const auto write = [&](const Sentence& where, const Cell& cell, double number) {
            edit(message("{number} over {where}", {{"number", shown_text(single(number))}, {"where", where}}),
                 [&](std::vector<Edit>& edits) {
                     edits.emplace_back(SetCell{here.step, cell, static_cast<float>(number)});
                 });
        };
        const RandomStream random(0, asked.question.id);
        Cell any;
        for (std::size_t i = 0; i < found->axes.size(); ++i)
            any.push_back(static_cast<Index>(random.uniform(i) * static_cast<double>(found->axes[i].size)));
        for (const double number : kNumbers) {
            if (here.cell) write(message("the selected cell"), *here.cell, number);
            write(message("a random cell"), any, number);
        }
    }

    // ---- a formula

    void operator()(const ByFormula& by) {
        const auto write = [&](const std::string& formula) {
            attempt(message("the formula \"{formula}\"", {{"formula", formula}}),
                    [&] { return formula_fits(asked, by, formula); });
        };
        for (const char* formula : {"", "0", "1", "x", "0 / 0", "tokens"}) write(formula);
        // What it reads, as it comes: which is right for a step that computes nothing.
        const Plan& plan = now().run->plan();
        if (const Ref step = plan.find(by.step))
            for (const StepId operand : step->operands) write(plan[operand].name);
        write(by.step);
        for (const std::string& step : by.without) write(step);
    }

    template <class Other>
    void operator()(const Other&) {}
};

}  // namespace

std::vector<Sentence> nonsense_that_passes(const Asked& asked, const Place* at) {
    Nonsense nonsense{asked, at};
    if (asked.opened != nullptr) std::visit([&](const auto& by) { nonsense(by); }, asked.question.answer);
    return std::move(nonsense.passed);
}

}  // namespace decoderscope::core::lessons
