#include "app/views/frame/step_textures.h"

#include "app/views/widgets/heatmap_view.h"

#include <vector>

namespace decoderscope::views {

namespace {

constexpr std::chrono::milliseconds kPainting{5};  // of a frame

std::vector<std::uint32_t> packed(const std::vector<core::Rgba>& colors) {
    std::vector<std::uint32_t> pixels;
    pixels.reserve(colors.size());
    for (const core::Rgba color : colors) pixels.push_back(to_imgui(color));
    return pixels;
}

bool same_but_for_size(const core::step::PixelsWanted& a, const core::step::PixelsWanted& b) {
    return a.place == b.place && a.heads == b.heads && a.across == b.across && a.sequential == b.sequential &&
           a.dark == b.dark;
}

}  // namespace

Index stepped_pixels(float pixels) {
    Index found = 1;
    for (Index power = 1; static_cast<float>(power) <= pixels; power *= 2)
        found = static_cast<float>(power) * 1.5F <= pixels ? power + power / 2 : power;
    return found;
}

void StepTextures::begin_frame() {
    until_ = std::chrono::steady_clock::now() + kPainting;
    count_ = 0;
    wants_more_ = false;
}

StepTextures::Texture StepTextures::texture_of(const Ui& ui, const core::Session& session, const Step& step,
                                               const core::step::PixelsWanted& wanted) {
    const core::Snapshot& shown = session.shown();
    const core::Origins from = core::step::painted_from(shown.run_of(step), step);
    const std::uint64_t key = heatmap_key(what_, step.id);
    const auto found = painted_.find(step.id);
    const bool has_any = found != painted_.end();
    const bool is_new = has_any && found->second.from == from && same_but_for_size(found->second.as, wanted);
    const ImTextureID kept = has_any ? ui.textures.find(key, found->second.version) : ImTextureID();
    const bool is_sharp = is_new && found->second.as.each.width == wanted.each.width &&
                          found->second.as.each.height == wanted.each.height;
    if (kept != ImTextureID() && is_sharp) return {kept, false};
    if (count_ > 0 && std::chrono::steady_clock::now() >= until_) {
        wants_more_ = true;
        return {kept, !is_new};
    }
    ++count_;
    const auto pixels = core::step::shown_pixels(session.derived(), shown, step, wanted);
    if (!pixels) return {kept, !is_new};
    painted_.insert_or_assign(step.id, Painted{core::HeldOrigins(from), wanted, pixels.number()});
    return {ui.textures.upload(key, static_cast<int>(pixels->width), static_cast<int>(pixels->height),
                               packed(pixels->colors), pixels.number()),
            false};
}

}  // namespace decoderscope::views
