#include "app/views/widgets/glyphs.h"

#include "app/core/text/utf8.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"

#include <algorithm>

namespace decoderscope {

void use_demand(GlyphDemand& demand) { ImGui::GetIO().UserData = &demand; }

void note_glyphs(const ImFont* font, std::string_view text) {
    const auto beyond_ascii = [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; };
    if (std::ranges::none_of(text, beyond_ascii)) return;
    auto* demand = static_cast<GlyphDemand*>(ImGui::GetIO().UserData);
    if (demand == nullptr) return;
    for (const Utf8Character& character : characters(from_carriers(text)))
        if (character.code >= 0x80 && character.code != 0xFFFD && !compat::has_glyph(font, character.code))
            demand->note(character.code);
}

}  // namespace decoderscope
