#include "app/views/widgets/glyphs.h"

#include "app/core/language/languages.h"
#include "app/core/text/missing_glyphs.h"
#include "app/core/text/utf8.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"

#include <algorithm>

namespace decoderscope {

namespace {

GlyphDemand* demand_of_context() { return context_data() == nullptr ? nullptr : context_data()->demand; }

bool is_beyond_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }

}  // namespace

void GlyphDemand::load_language() {
    if (language_ == &spoken()) return;
    language_ = &spoken();
    alphabet_ = alphabet_of(*language_);
}

void use_demand(GlyphDemand& demand) {
    demand.shared.demand = &demand;
    ImGui::GetIO().UserData = &demand.shared;
}

void note_glyphs(const ImFont* font, std::string_view text) {
    if (std::ranges::none_of(text, is_beyond_ascii)) return;
    GlyphDemand* demand = demand_of_context();
    if (demand == nullptr) return;
    for (const Utf8Character& character : characters(from_carriers(text)))
        if (character.code >= 0x80 && character.code != 0xFFFD && !compat::has_glyph(font, character.code))
            demand->note(character.code);
}

bool lacks_glyphs(std::string_view text) {
    const GlyphDemand* demand = demand_of_context();
    if (demand == nullptr || demand->missing().empty() || std::ranges::none_of(text, is_beyond_ascii)) return false;
    return std::ranges::any_of(characters(text),
                               [&](const Utf8Character& c) { return demand->missing().contains(c.code); });
}

std::string with_code_points(std::string_view text) { return with_code_points(text, demand_of_context()->missing()); }

void note_place(const ImDrawList& list, ImFont* font, ImVec2 at, std::string_view text) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (mouse.x < at.x || mouse.y < at.y || mouse.y >= at.y + compat::font_size(font)) return;
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    if (mouse.x < low.x || mouse.x >= high.x || mouse.y < low.y || mouse.y >= high.y) return;
    if (mouse.x >= at.x + compat::text_size(font, text).x) return;
    if (GlyphDemand* demand = demand_of_context()) demand->under_mouse = std::string(text);
}

std::string text_under_mouse() {
    const GlyphDemand* demand = demand_of_context();
    return demand == nullptr ? std::string() : demand->under_mouse;
}

void forget_text_under_mouse() {
    if (GlyphDemand* demand = demand_of_context()) demand->under_mouse.clear();
}

}  // namespace decoderscope
