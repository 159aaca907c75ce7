#pragma once

#include <imgui.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace decoderscope {

// Pictures that the views draw with ImGui: one texture per key, uploaded again only when its version or size changed.
// Pixels are as IM_COL32 makes them, top row first. Drawn with compat::add_pixels, each stays a sharp square.
class Textures {
public:
    virtual ~Textures() = default;

    // The texture that holds this picture. `version` names the contents: the caller changes it whenever the pixels
    // change. Throws Error if the picture is larger than the machine's textures may be.
    virtual ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                               std::uint64_t version) = 0;
    // The texture if it already holds this version, so that the caller need not paint the pixels; else null.
    virtual ImTextureID find(std::uint64_t key, std::uint64_t version) = 0;

    // Called after each frame: drops textures that were not used for some time.
    virtual void end_frame() = 0;
};

// Remembers what was uploaded and draws nothing: for tests without a GPU.
class NullTextures : public Textures {
public:
    struct Picture {
        int width = 0, height = 0;
        std::uint64_t version = 0;
        std::vector<std::uint32_t> rgba;
        int uploads = 0;  // how often this key was uploaded
    };

    ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                       std::uint64_t version) override;
    ImTextureID find(std::uint64_t key, std::uint64_t version) override;
    void end_frame() override {}

    [[nodiscard]] const std::map<std::uint64_t, Picture>& pictures() const { return pictures_; }

private:
    std::map<std::uint64_t, Picture> pictures_;
};

}  // namespace decoderscope
