#pragma once

#include <limits>
#include <span>
#include <string>

namespace decoderscope {

struct Fonts;
class Textures;

// What a window shows. The window calls it, on one thread; it knows nothing of the window.
class Frontend {
public:
    virtual ~Frontend() = default;

    // Builds one frame, between ImGui::NewFrame and ImGui::Render. Returns whether it wants another one soon: something
    // moves.
    virtual bool frame(Textures& textures) = 0;

    // The faces to write with, before the first frame and whenever the scale changed. They stay until the next call.
    virtual void use_fonts(const Fonts& fonts) { static_cast<void>(fonts); }
    // How much larger than the monitor asks for the person wants everything: 1 is as the monitor says.
    [[nodiscard]] virtual float text_scale() const { return 1.0F; }

    // Files that were dropped on the window.
    virtual void dropped(std::span<const std::string> paths) { static_cast<void>(paths); }
    [[nodiscard]] virtual std::string title() const { return "Decoderscope"; }  // not a message: a name
    [[nodiscard]] virtual bool wants_to_close() const { return false; }
    // The person asks to close the window. Where it must not yet (something is to be answered first), wants_to_close()
    // says when.
    [[nodiscard]] virtual bool may_close() { return true; }
    // The window has closed: because the person wanted it to, or because the program was told to end by a signal.
    virtual void ended(bool by_the_person) { static_cast<void>(by_the_person); }
    // Seconds until it must be drawn again where nobody does anything; infinity: never.
    [[nodiscard]] virtual double next_wake() const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace decoderscope
