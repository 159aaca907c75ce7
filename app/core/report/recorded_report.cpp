#include "app/core/report/recorded_report.h"

#include "engine/translate.h"

namespace decoderscope {

namespace {

// Every tensor with its shape and what it was computed from, as far as that was recorded.
Page::Table tensors_of(const Plan& plan, std::size_t most) {
    Page::Table table;
    table.caption = tr("In the order of recording");
    table.columns = {tr("tensor"), tr("shape"), tr("computed from")};
    for (const Step& step : plan.steps()) {
        if (table.rows.size() == most) break;
        std::vector<Page::Text> from;
        for (const StepId operand : step.operands) from.push_back({plan[operand].name, {}});
        table.rows.push_back({{{step.name, {}}}, {{shape_text(step.axes), {}}}, std::move(from)});
    }
    return table;
}

}  // namespace

void write_recorded_sections(Page& page, const ReportOf& report) {
    constexpr std::size_t kMost = 500;
    const Model& model = *report.shown.scenario.model();
    const Plan& plan = report.shown.run->plan();
    page.section(tr("Recording"));
    page.paragraph(tr(model.description));
    for (const Sentence& remark : model.remarks) page.paragraph(tr(remark));
    page.section(tr("Tensors"));
    page.table(tensors_of(plan, kMost));
    if (const std::size_t all = plan.steps().size(); all > kMost)
        page.paragraph(tr_n("… and {count} more tensor.", "… and {count} more tensors.", all - kMost));
}

}  // namespace decoderscope
