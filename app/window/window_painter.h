#pragma once

#include "app/views/widgets/fonts.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "app/window/frontend.h"
#include "app/window/window_textures.h"

#include <memory>

struct ImGuiContext;

namespace decoderscope::window {

// What the window on screen and the one without a screen share: Dear ImGui, its fonts, and drawing a frame into the
// bound framebuffer. The OpenGL context must be current, and outlive it.
class Painter {
public:
    // Throws Error if the OpenGL context is too old.
    Painter();
    ~Painter();
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    struct Canvas {
        int width = 0, height = 0;    // pixels
        float scale = 1.0F;           // the monitor's scale, relative to 96 dots an inch
        double seconds = 1.0 / 60.0;  // since the frame before
    };
    // Draws one frame. Returns whether another should follow at once: something moves, or input is waiting.
    bool draw(Frontend& frontend, views::InputQueue& input, const Canvas& canvas);

    // Loads the fonts again before the next frame, from their files: others are installed now.
    void use_new_fonts() { new_fonts_ = true; }

    // The OpenGL context was lost and is there again, without anything that was made in it: it is made anew.
    void begin_again();

    // Dear ImGui's, to be made current before its functions are called.
    [[nodiscard]] ImGuiContext* context() const { return context_.get(); }

private:
    struct ContextDeleter {
        void operator()(ImGuiContext* context) const;
    };
    void use_scale(Frontend& frontend, float scale);
    // Builds a frame without drawing it. Returns whether another should follow at once.
    bool build(Frontend& frontend, views::InputQueue& input, const Canvas& canvas);

    views::GlyphDemand demand_;  // before the context, which must not outlive it
    std::unique_ptr<ImGuiContext, ContextDeleter> context_;
    std::unique_ptr<GlTextures> textures_;
    views::Fonts fonts_;
    bool new_fonts_ = false;
    bool between_frames_ = true;      // if not, what Dear ImGui itself threw left it where it can't even be freed
    const Frontend* told_ = nullptr;  // the frontend that was given these fonts
};

}  // namespace decoderscope::window
