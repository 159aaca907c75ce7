// The page that is a whole session.
#include "app/core/report/report.h"
#include "engine/model/bundled.h"
#include "tests/catch.h"
#include "tests/core/export/markup.h"

#include <sstream>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

ReportOf report_of(Scenario scenario) {
    auto run = execute(plan_of(scenario));
    const LookAt look_at = scenario.model()->look_at;
    return {{std::move(scenario), std::move(run)}, look_at.step, {0, look_at.head}, ""};
}

std::string page_of(const ReportOf& report) {
    std::ostringstream out;
    write_report(out, report);
    return out.str();
}

}  // namespace

TEST_CASE("a report is one page that needs nothing else") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.25F},
                      MaskEdit{.attention = "blocks.1.attn", .head = 0, .query = 2, .key = 1, .keep = false}};
    const std::string page = page_of(report_of(scenario));
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(xml_fault(page.substr(page.find("<html"))) == "");
    for (const char* part : {"<script", "<link", "<iframe", "src=", "url(", "@import", "xlink:href=\"http"})
        CHECK(page.find(part) == std::string::npos);
    CHECK(count_of(page, "http") == count_of(page, "xmlns"));  // names, not addresses
    CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
    CHECK(page.find("@media print") != std::string::npos);
    for (const Edit& edit : scenario.edits) CHECK(count_of(page, "<li>" + describe(edit) + "</li>") == 1);
    for (const char* heading : {"Model", "Input", "Edits", "Where to look", "Self-attention", "Cross-attention",
                                "The encoder&#", "Masks", "Norms"}) {
        INFO(heading);
        const std::string plain = std::string(heading).substr(0, std::string(heading).find("&"));
        CHECK(page.find("<h2>" + plain) != std::string::npos);
    }
    // A figure for the step, one for each layer's heads, for the masks of each kind, and for the curves.
    const Index layers = scenario.config().num_layers, encoder = scenario.config().encoder_layers;
    CHECK(count_of(page, "<svg ") == 1 + 2 * layers + encoder + 3 + 1);
    CHECK(count_of(page, ">head 0<") == 2 * layers + encoder);
    CHECK(count_of(page, "Residual stream") >= 1);
    CHECK(page == page_of(report_of(scenario)));
}

TEST_CASE("what a report is given to say is text and no markup") {
    auto model = std::make_shared<Model>(*make_bundled_model("causal-lm-as-meant"));
    model->name = "/somewhere/<img src=x onerror=alert(1)>";
    model->description = Sentence::verbatim("</p><script>alert(\"2\")</script> & 'so on'");
    model->remarks = {Sentence::verbatim("<b>bold</b>"), Sentence::verbatim(std::string_view("\x01\xff", 2))};
    ReportOf report = report_of(scenario_of(std::shared_ptr<const Model>(model)));
    report.title = "<h1>title</h1>";
    const std::string page = page_of(report);
    CHECK(xml_fault(page.substr(page.find("<html"))) == "");
    for (const char* part : {"<script", "<img", "<b>bold", "<h1>title"}) CHECK(page.find(part) == std::string::npos);
    CHECK(page.find("&lt;script&gt;alert(&quot;2&quot;)&lt;/script&gt; &amp;") != std::string::npos);
    CHECK(page.find("/somewhere") == std::string::npos);  // readers needn't know where the model is stored
}

TEST_CASE("every bundled model can be reported") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const std::string page = page_of(report_of(scenario_of(make_bundled_model(model.name))));
        CHECK(xml_fault(page.substr(page.find("<html"))) == "");
        CHECK(page.find("<figure>") != std::string::npos);
    }
}
