// What Causes, Sweep and Cost saved, tabs of their own up to version 0.2.0, opens what they showed.
#include "app/core/files/link.h"
#include "app/core/files/session_file.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/ask/tab.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;
using namespace decoderscope::views::ask;

namespace {

// As 0.2.0 wrote it, with this tab open.
std::string old_session(const std::string& tab) {
    return R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}, "tab": ")" + tab +
           R"(", "labs": {
        "causes": {"page": "patching", "number": {"kind": "difference", "position": 3, "token": 7, "minus": 2},
                   "other": {"kind": "token", "position": 2, "token": 9}, "every_step": true},
        "sweep": {"vary": "each head of blocks.0", "row": "logits[0, 0, 3]", "seek": ""},
        "cost": {"by": "block", "sort": "moved"}}})";
}

void check_kept(const core::ask::Question& ask) {
    CHECK(ask.number == NumberChoice{.kind = NumberKind::difference, .position = 3, .token = 7, .minus = 2});
    CHECK(ask.other == OtherChoice{.kind = OtherKind::token, .position = 2, .token = 9});
    CHECK(ask.every_step);
    CHECK(ask.sweep == SweepQuestion{"each head of blocks.0", "logits[0, 0, 3]"});
    CHECK(ask.by == Grouping::block);
    CHECK(ask.sort == "moved");
}

struct Opens {
    const char* tab;
    AskPage page;
    const char* sees;
};
constexpr Opens kOpens[] = {{"causes", AskPage::patching, "Encoder"},
                            {"sweep", AskPage::vary, "logits[0,0,3]"},
                            {"cost", AskPage::cost, "Timesaremeasured"}};

}  // namespace

TEST_CASE("a session of 0.2.0 opens the page that its tab has become, with all that the three tabs saved") {
    const TemporaryFolder folder;
    for (const auto& [tab, page, sees] : kOpens) {
        INFO(tab);
        const std::string path = folder.file("old.dscope");
        write_bytes(path, old_session(tab));
        Driver d;
        d.session.apply(command::OpenSession{path});
        for (int i = 0; i < 3; ++i) d.settle();
        CHECK(d.state.tab == "ask");
        CHECK(d.state.part<AskTabState>().question.page == page);
        CHECK(d.find_on_stage(sees));
        check_kept(d.state.part<AskTabState>().question);
        // Saved again, it is the new tab's; the old ones are gone.
        const files::SavedView saved = dialogs::saved_view(d.state);
        CHECK(saved.tab == "ask");
        CHECK_FALSE(saved.tabs.contains(tab));
        ViewState again;
        CHECK(dialogs::show_saved(again, saved).empty());
        CHECK(again.part<AskTabState>().question.page == page);
        check_kept(again.part<AskTabState>().question);
    }
}

TEST_CASE("a link of 0.2.0 opens it, too") {
    for (const auto& [tab, page, sees] : kOpens) {
        INFO(tab << ": " << sees);
        const std::string link = files::link_of(files::parse_session(old_session(tab), ""));
        Driver d;
        d.session.apply(command::OpenLink{files::link_at("https://example.org/", link)});
        for (int i = 0; i < 3; ++i) d.settle();
        CHECK(d.state.tab == "ask");
        CHECK(d.state.part<AskTabState>().question.page == page);
    }
}
