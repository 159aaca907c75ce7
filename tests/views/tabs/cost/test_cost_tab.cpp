// The Cost tab: which steps cost most time and memory.
#include "app/core/tabs/cost/cost_files.h"
#include "app/views/tabs/cost/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::cost;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

CostTable table_of(const Driver& d) {
    const auto& tab = d.state.part<views::cost::CostTabState>();
    return cost_table(*tab.last.question(), *tab.last.answer(), tab.grouping, tab.sorted);
}

}  // namespace

TEST_CASE("the costliest step comes first, a click leads to it, and a title sorts") {
    Driver d("reverse");
    d.press(Key::q);
    REQUIRE(d.state.tab == "cost");
    CHECK(d.sees("Timesaremeasured"));
    CHECK(d.sees("floating-pointoperations"));
    CHECK(d.sees("totalof"));
    const auto title = std::ranges::find(d.seen(), "moved", &DrawnText::text);
    REQUIRE(title != d.seen().end());
    d.click(title->middle());
    CHECK(d.state.part<views::cost::CostTabState>().sorted == SortedBy::moved);
    const CostTable table = table_of(d);
    CHECK(d.find_on_stage(without_spaces(amount_text(table.total.operations))));
    CHECK(std::ranges::max(table.rows, {}, [](const CostRow& row) { return row.cost.moved_bytes; }).cost ==
          table.rows.front().cost);
    const auto first = d.find_on_stage(table.rows.front().name);
    REQUIRE(first);
    d.click({first->low.x + 2.0F, first->low.y + 2.0F});
    CHECK(d.state.tab == core::files::kStepTab);
    CHECK(d.session.cursor().step == table.rows.front().name);
}

TEST_CASE("parts and blocks have the same total as steps, and are exported as they are shown") {
    Driver d("reverse");
    d.press(Key::q);
    const Cost total = table_of(d).total;
    REQUIRE(d.click_text("Bypart"));
    CHECK(table_of(d).total == total);
    CHECK(d.find_on_stage("Self-attention·"));
    REQUIRE(d.click_text("Byblock"));
    CHECK(table_of(d).total == total);
    const std::vector<ExportChoice> choices = export_choices(d.session, d.state);
    REQUIRE(choices.front().file_name == "cost");
    const Exhibit exhibit = choices.front().in_english();
    const Heatmap heatmap = exhibit.panels.front().heatmap();
    CHECK(heatmap.rows == static_cast<Index>(table_of(d).rows.size()));
    CHECK(heatmap.at(0, 1) == static_cast<float>(table_of(d).rows.front().cost.kept_bytes));
    d.press(Key::d);  // another run is measured anew
    CHECK(d.sees("totalof"));
}

TEST_CASE("the Cost tab speaks Chinese, and its files English") {
    const Speaking speaking("zh_CN");
    Driver d("reverse");
    d.press(Key::q);
    CHECK_FALSE(d.sees("Timesaremeasured"));
    REQUIRE(d.state.part<views::cost::CostTabState>().last);
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
