#pragma once

#include "app/views/widgets/theme.h"

namespace decoderscope::window {

// The views' pictures as OpenGL textures of the current context, which must outlive them.
class GlTextures : public views::Textures {
public:
    GlTextures() = default;
    ~GlTextures() override;
    GlTextures(const GlTextures&) = delete;
    GlTextures& operator=(const GlTextures&) = delete;

    ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                       std::uint64_t version) override;
    ImTextureID find(std::uint64_t key, std::uint64_t version) override;
    void end_frame() override;

private:
    struct Texture {
        unsigned name = 0;  // OpenGL's; 0 until it is made
        int width = 0, height = 0;
        std::uint64_t version = 0;
        std::uint64_t last_used = 0;  // a frame
    };
    std::map<std::uint64_t, Texture> textures_;
    std::uint64_t frame_ = 0;
};

}  // namespace decoderscope::window
