#pragma once

#include <cairo.h>

#include <memory>

namespace decoderscope::core {

// Releases Cairo's reference-counted objects.
struct CairoRelease {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
    void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};

template <class T>
using Cairo = std::unique_ptr<T, CairoRelease>;

}  // namespace decoderscope::core
