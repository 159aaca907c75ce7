// The contrast of text in rendered frames: every tab and dialog, dark and light (WCAG 2.2, 1.4.3).
#include "app/views/frame/tab.h"
#include "app/views/widgets/frame_document.h"
#include "tests/catch.h"
#include "tests/views/drawn_contrast.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <vector>

using namespace decoderscope::testing;

namespace {

void check_contrast(const Driver& d) {
    const auto found = drawn_contrasts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    CHECK(found.size() > 20);
    for (const auto& piece : found)
        if (piece.ratio < 4.5) FAIL_CHECK("\"" << piece.text << "\" has a contrast of " << piece.ratio);
    static_cast<void>(d);
}

// Whether what begins there can be pressed, typed into, or clicked as a cell.
bool can_be_used(const std::vector<DocumentItem>& items, const DrawnText& piece) {
    return std::ranges::any_of(items, [&](const DocumentItem& item) {
        const bool is_used = item.kind == DocumentItem::Kind::button || item.kind == DocumentItem::Kind::field ||
                             item.kind == DocumentItem::Kind::table;
        return is_used && item.area.contains({piece.x.front(), piece.middle().y});
    });
}

// Whether every text in the colour of links that is seen now, and wasn't before, can be used.
void check_links(Driver& d, const std::vector<DrawnText>& before) {
    d.settle();  // whatever was asked for is there
    d.settle();
    d.state.document.collect();
    d.settle();
    const ImU32 link = make_theme(d.state.is_dark()).accent;
    for (const DrawnText& piece : d.seen()) {
        const bool is_new = std::ranges::none_of(before, [&](const DrawnText& old) {
            return old.text == piece.text && old.low.x == piece.low.x && old.low.y == piece.low.y;
        });
        if (is_new && piece.color == link && !can_be_used(d.state.document.items(), piece))
            FAIL_CHECK("\"" << piece.text << "\" looks like a link and isn't one");
    }
}

}  // namespace

TEST_CASE("what looks like a link is one, in every tab and dialog") {
    for (const char* model : {"reverse", "verses", "simple-decoder"}) {
        Driver d(model);
        d.state.settings.introduction_closed = false;
        for (const Tab& tab : tabs()) {
            d.state.tab = tab.id;
            INFO(model << ", " << tab.id);
            check_links(d, {});
        }
        d.session.apply(command::SelectCell{Cell(d.session.step().axes.size(), 0)});
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        d.state.tab = files::kStepTab;
        check_links(d, {});
        const std::vector<DrawnText> before = d.seen();
        for (const Dialog dialog : {Dialog::keys, Dialog::glossary, Dialog::formulas, Dialog::palette,
                                    Dialog::export_file, Dialog::open_model, Dialog::save_session, Dialog::unsaved,
                                    Dialog::settings, Dialog::checks, Dialog::configuration, Dialog::talk}) {
            d.state.show(dialog);
            INFO(model << ", dialog " << static_cast<int>(dialog));
            check_links(d, before);
            d.press(Key::escape);
        }
    }
}

TEST_CASE("what is written can be read in every tab and dialog, dark and light", "[long]") {
    for (const bool dark : {true, false}) {
        Driver d("reverse");
        d.state.settings.dark = dark;
        d.session.apply(command::SelectCell{Cell(4, 0)});
        d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 1, 0.0F});
        for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
            d.press(key);
            INFO(d.state.tab << (dark ? ", dark" : ", light"));
            check_contrast(d);
        }
        for (const Dialog dialog : {Dialog::keys, Dialog::palette, Dialog::export_file, Dialog::open_model,
                                    Dialog::save_session, Dialog::unsaved, Dialog::settings, Dialog::checks}) {
            d.state.dialog = dialog;
            d.state.dialog_opens = true;
            d.settle();
            INFO("dialog " << static_cast<int>(dialog) << (dark ? ", dark" : ", light"));
            check_contrast(d);
            d.press(Key::escape);
        }
    }
}
