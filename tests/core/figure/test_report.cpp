// The page that is a whole session.
#include "app/core/report/report.h"

#include "app/core/report/html_page.h"
#include "app/core/run/output_moves.h"
#include "app/core/text/numbers.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/figure/markup.h"

#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::core::report;

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
    CHECK(count_of(page, "Length of the stream") >= 1);
    CHECK(page == page_of(report_of(scenario)));
}

TEST_CASE("a report says what the edits did, in the sentences of the window") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto before = execute(plan_of(scenario));
    scenario.edits = {ScaleHead{"blocks.1.cross_attn", 3, 0.0F}};
    const ReportOf report = report_of(scenario);
    const OutputMoves moves =
        moves_of(before->value("logits"), report.shown.run->value("logits"), scenario.inputs.attention_mask, true);
    const std::string page = page_of(report);
    CHECK(page.find("logits moved by at most " + short_number_text(moves.largest, 3) + " (not counted: ") !=
          std::string::npos);
    CHECK(page.find("tensors changed, first blocks.1.cross_attn.z") != std::string::npos);
    CHECK(page.find("of 18 next tokens are predicted right") != std::string::npos);
    // So do the words of its pictures: a head's own pattern stays what it was, and those of the next block don't.
    scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    const std::string early = page_of(report_of(scenario));
    const auto said_of = [&](const std::string& pattern) {
        const std::size_t label = early.find("aria-label=\"", early.find(">" + pattern + "<"));
        return early.substr(label, early.find('>', label) - label);
    };
    CHECK(said_of("blocks.0.attn").find("The edits change none of these") != std::string::npos);
    CHECK(said_of("blocks.1.attn").find("The edits change none of these") == std::string::npos);
    CHECK(said_of("blocks.1.attn").find("The edits change") != std::string::npos);
    // Without edits nothing is said of them.
    CHECK(page_of(report_of(scenario_of(make_bundled_model("reverse")))).find("logits moved") == std::string::npos);
}

TEST_CASE("a report begins with what the model predicts; keys as by default are folded away") {
    const std::string page = page_of(report_of(scenario_of(make_bundled_model("reverse"))));
    const std::size_t predictions = page.find("<h2>Predictions"), model = page.find("<h2>Model");
    REQUIRE(predictions != std::string::npos);
    CHECK(predictions < page.find("<h2>Cross-attention"));
    CHECK(page.find("<h2>Cross-attention") < model);
    CHECK(count_of(page, "<span>✓ ") == 18);
    // d_model has no default, alibi is off by default.
    const std::size_t folded = page.find("<details>", model);
    CHECK(page.find("<dt>d_model</dt>", model) < folded);
    CHECK(page.find("<dt>alibi</dt>", model) > folded);
}

TEST_CASE("every heatmap of a report is a table, too") {
    const ReportOf report = report_of(scenario_of(make_bundled_model("reverse")));
    const std::string page = page_of(report);
    const Config& config = report.shown.scenario.config();
    // The heads of each attention, folded below the figure; the step and the masks besides.
    // The curves are no heatmap; the keys as by default are folded, too.
    CHECK(count_of(page, "<details>") == count_of(page, "<figure>"));
    CHECK(count_of(page, "<details>") == count_of(page, "<summary>"));
    const int heads = static_cast<int>(config.nhead * (2 * config.num_layers + config.encoder_layers));
    CHECK(count_of(page, "<table>") > heads);
    CHECK(count_of(page, "<caption>") == count_of(page, "<table>"));
    // Every number of a pattern, with its row's and its column's heading.
    const Tensor& pattern = report.shown.run->value("blocks.0.attn.pattern");
    const std::size_t caption = page.find("<caption>blocks.0.attn.pattern, batch 0, head 1");
    REQUIRE(caption != std::string::npos);
    const std::string table = page.substr(caption, page.find("</table>", caption) - caption);
    CHECK(count_of(table, "<th scope=\"row\">") == pattern.dim(2));
    CHECK(count_of(table, "<th scope=\"col\">") == pattern.dim(3) + 1);
    CHECK(count_of(table, "<td>") == pattern.dim(2) * pattern.dim(3));
    for (Index query = 0; query < pattern.dim(2); ++query)
        for (Index key = 0; key < pattern.dim(3); ++key) {
            const bool kept = report.shown.run->value("blocks.0.attn.mask").at(Cell{0, 1, query, key}) != 0.0F;
            const std::string number = short_number_text(static_cast<double>(pattern.at(Cell{0, 1, query, key})), 4);
            CHECK(table.find("<td>" + number + (kept ? "</td>" : ", masked</td>")) != std::string::npos);
        }
}

TEST_CASE("the table of a large heatmap is cut, and says so") {
    Heatmap large;
    large.title = "scores";
    large.row_axis = "query";
    large.column_axis = "key";
    large.rows = 100;
    large.columns = 200;
    for (Index i = 0; i < large.rows; ++i) large.row_labels.push_back(std::to_string(i));
    for (Index i = 0; i < large.columns; ++i) large.column_labels.push_back(i == 2 ? "r" : std::to_string(i));
    for (Index i = 0; i < large.rows * large.columns; ++i) large.values.push_back(static_cast<float>(i));
    const Page::Table table = table_of(large);
    CHECK(table.rows.size() == 16);
    CHECK(table.columns.size() == 65);
    CHECK(table.columns[3] == "key 2 “r”");
    CHECK(table.rows[1][0][0].text == "query 1");
    CHECK(table.rows[1][4][0].text == "203");
    for (const char* number : {"16 of 100 rows", "64 of 200 columns", "CSV"})
        CHECK(table.caption.find(number) != std::string::npos);
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
