# GLFW: the window. OpenGL: what it draws with. EGL: the same without a window.
find_package(glfw3 3.3 REQUIRED)
set(OpenGL_GL_PREFERENCE GLVND)
find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)

add_library(decoderscope_opengl INTERFACE)
add_library(decoderscope::opengl ALIAS decoderscope_opengl)
target_link_libraries(decoderscope_opengl INTERFACE glfw OpenGL::GL OpenGL::EGL)
# The functions after OpenGL 1.1 are declared by OpenGL's own header, and only when asked for.
target_compile_definitions(decoderscope_opengl INTERFACE GL_GLEXT_PROTOTYPES GLFW_INCLUDE_NONE)
