// Ask → Cost: which steps cost most time and memory.
#include "app/views/tabs/ask/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

core::Table table_of(const Driver& d) {
    const auto& tab = d.state.part<views::ask::AskTabState>();
    return cost_table(d.session.shown().run->plan(), *tab.last.answer()->cost, tab.question.by, tab.question.sort);
}

Entry operations(const Driver& d) {
    const core::Table table = table_of(d);
    return table.total->entries[table.titled("operations").value()];
}

}  // namespace

TEST_CASE("the costliest step comes first, a click leads to it, and a title sorts") {
    Driver d("reverse");
    d.press(Key::q);
    REQUIRE(d.state.tab == "ask");
    REQUIRE(d.state.part<views::ask::AskTabState>().question.page == AskPage::cost);
    CHECK(d.sees("Timesaremeasured"));
    CHECK(d.sees("floating-pointoperations"));
    CHECK(d.sees("total"));
    const auto title = std::ranges::find(d.seen(), "moved", &DrawnText::text);
    REQUIRE(title != d.seen().end());
    d.click(title->middle());
    const core::Table table = table_of(d);
    CHECK(table.sorted_by == table.titled("moved"));
    CHECK(d.find_on_stage(without_spaces(text_of(operations(d), Unit::count))));
    const auto moved = [&](const TableRow& row) { return number_of(row.entries[*table.sorted_by]); };
    CHECK(moved(table.rows.front()) == moved(*std::ranges::max_element(table.rows, {}, moved)));
    const std::string name = table.rows.front().name.english();
    const auto first = d.find_on_stage(name);
    REQUIRE(first);
    d.click({first->low.x + 2.0F, first->low.y + 2.0F});
    CHECK(d.state.tab == core::files::kStepTab);
    CHECK(d.session.cursor().step == name);
}

TEST_CASE("parts and blocks have the same total as steps, and are exported as they are shown") {
    Driver d("reverse");
    d.press(Key::q);
    const Entry total = operations(d);
    REQUIRE(d.click_text("Bypart"));
    CHECK(operations(d) == total);
    CHECK(d.find_on_stage("Self-attention"));
    REQUIRE(d.click_text("Byblock"));
    CHECK(operations(d) == total);
    const std::vector<ExportChoice> choices = export_choices(d.session, d.state);
    REQUIRE(choices.front().file_name == "reverse_cost");
    const Exhibit exhibit = choices.front().in_english();
    const Heatmap heatmap = exhibit.panels.front().heatmap();
    CHECK(heatmap.rows == static_cast<Index>(table_of(d).rows.size()));
    const core::Table table = table_of(d);
    CHECK(heatmap.at(0, 2) ==
          static_cast<float>(number_of(table.rows.front().entries[table.titled("memory").value()])));
    d.press(Key::d);  // another run is measured anew
    CHECK(d.sees("total"));
}

TEST_CASE("the Cost tab speaks Chinese, and its files English") {
    const Speaking speaking("zh_CN");
    Driver d("reverse");
    d.press(Key::q);
    CHECK_FALSE(d.sees("Timesaremeasured"));
    REQUIRE(d.state.part<views::ask::AskTabState>().last);
    const Exhibit exhibit = export_choices(d.session, d.state).front().in_english();
    CHECK(exhibit.caption.find("Times are measured") != std::string::npos);
    CHECK(exhibit.panels.front().heatmap().title == "cost of a forward pass");
}

TEST_CASE("the Cost tab fits every screen") {
    for (const Screen& screen : kScreens) {
        INFO("scale " << screen.scale << ", " << screen.size.x << " wide");
        Driver d("reverse", screen.scale, screen.size);
        d.press(Key::q);
        check_layout(d, screen.size);
        REQUIRE(d.click_text("Byblock"));
        check_layout(d, screen.size);
    }
}
