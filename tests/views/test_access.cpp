// The contrast of text in rendered frames: every tab and dialog, dark and light (WCAG 2.2, 1.4.3).
#include "tests/catch.h"
#include "tests/views/drawn_contrast.h"
#include "tests/views/driver.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::drawn_contrasts;
using decoderscope::testing::Driver;

namespace {

void check_contrast(const Driver& d) {
    const auto found = drawn_contrasts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    CHECK(found.size() > 20);
    for (const auto& piece : found)
        if (piece.ratio < 4.5) FAIL_CHECK("\"" << piece.text << "\" has a contrast of " << piece.ratio);
    static_cast<void>(d);
}

}  // namespace

TEST_CASE("what is written can be read in every tab and dialog, dark and light", "[long]") {
    for (const bool dark : {true, false}) {
        Driver d("reverse");
        d.state.settings.dark = dark;
        d.session.apply(command::SelectCell{Cell(4, 0)});
        d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 1, 0.0F});
        for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
            d.hands.tap(key);
            d.settle();
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
            d.hands.tap(Key::escape);
            d.settle();
        }
    }
}
