#pragma once

#include <imgui.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace decoderscope {

// Pictures that the views draw with ImGui: one texture a key, uploaded again only when its version or size changed. A
// pixel is as IM_COL32 makes it, the top row first. Drawn with compat::add_pixels, each stays a sharp square.
class Textures {
public:
    virtual ~Textures() = default;

    // The texture that holds this picture. `version` names the contents: a caller changes it whenever the pixels
    // change. Throws Error where the picture is larger than the machine's textures may be.
    virtual ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                               std::uint64_t version) = 0;
    // The texture where it holds this version already, so that the caller need not paint the pixels; else a null one.
    virtual ImTextureID find(std::uint64_t key, std::uint64_t version) = 0;

    // The frame is drawn: what was not asked for in some time is dropped. Called by whoever draws the frames.
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
