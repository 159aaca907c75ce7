#include "app/views/widgets/textures.h"

#include "app/views/widgets/imgui_compat.h"

namespace decoderscope {

// A key's texture is the key itself; ImGui takes 0 for none.
ImTextureID NullTextures::upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                                 std::uint64_t version) {
    Picture& picture = pictures_[key];
    if (picture.uploads == 0 || picture.version != version || picture.width != width || picture.height != height) {
        picture = {width, height, version, {rgba.begin(), rgba.end()}, picture.uploads + 1};
    }
    return compat::texture_id(key + 1);
}

ImTextureID NullTextures::find(std::uint64_t key, std::uint64_t version) {
    const auto found = pictures_.find(key);
    return found != pictures_.end() && found->second.version == version ? compat::texture_id(key + 1) : ImTextureID{};
}

}  // namespace decoderscope
