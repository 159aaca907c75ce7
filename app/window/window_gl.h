#pragma once

// OpenGL's declarations: the desktop's 3.3, or a page's ES 3.
#if defined(__EMSCRIPTEN__)
#include <GLES3/gl3.h>
#else
#include <GL/gl.h>
#endif

namespace decoderscope::window {

// The first line of a shader.
#if defined(__EMSCRIPTEN__)
inline constexpr const char* kShaderVersion = "#version 300 es";
#else
inline constexpr const char* kShaderVersion = "#version 330 core";
#endif

}  // namespace decoderscope::window
