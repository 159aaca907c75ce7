#include "app/window/window_textures.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"

#include "app/window/window_gl.h"

#include <stdexcept>

namespace decoderscope::window {
namespace {

// Long enough that a picture survives a step away and back; short enough that memory doesn't fill up.
constexpr std::uint64_t frames_kept = 240;

// Binds a texture, and restores the previous binding on destruction.
class Bound {
public:
    explicit Bound(GLuint name) {
        glGetIntegerv(GL_TEXTURE_BINDING_2D, &before_);
        glBindTexture(GL_TEXTURE_2D, name);
    }
    ~Bound() { glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(before_)); }
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

private:
    GLint before_ = 0;
};

void check_size(int width, int height, std::size_t pixels) {
    if (width < 1 || height < 1 || pixels != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
        throw std::invalid_argument("a texture's pixels must be width times height");
    }
    GLint limit = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &limit);
    if (width > limit || height > limit) {
        throw Error("a picture of {width} x {height} pixels is too large for this machine, which draws up to {limit}",
                    {{"width", width}, {"height", height}, {"limit", limit}});
    }
}

GLuint make_texture() {
    GLuint name = 0;
    glGenTextures(1, &name);
    const Bound bound(name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return name;
}

}  // namespace

GlTextures::~GlTextures() {
    for (const auto& [key, texture] : textures_) glDeleteTextures(1, &texture.name);
}

ImTextureID GlTextures::upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                               std::uint64_t version) {
    check_size(width, height, rgba.size());
    Texture& texture = textures_[key];
    const bool same_size = texture.name != 0 && texture.width == width && texture.height == height;
    if (!same_size || texture.version != version) {
        if (texture.name == 0) texture.name = make_texture();
        const Bound bound(texture.name);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        if (same_size) {
            glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
        } else {
            glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
        }
    }
    texture = {texture.name, width, height, version, frame_};
    return views::compat::texture_id(texture.name);
}

ImTextureID GlTextures::find(std::uint64_t key, std::uint64_t version) {
    const auto found = textures_.find(key);
    if (found == textures_.end() || found->second.version != version) return ImTextureID{};
    found->second.last_used = frame_;
    return views::compat::texture_id(found->second.name);
}

void GlTextures::end_frame() {
    ++frame_;
    std::erase_if(textures_, [this](const auto& entry) {
        const Texture& texture = entry.second;
        if (texture.last_used + frames_kept > frame_) return false;
        glDeleteTextures(1, &texture.name);
        return true;
    });
}

}  // namespace decoderscope::window
