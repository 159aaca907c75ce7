# The libraries of a build for Windows, compiled here from their sources. scripts/windows.sh fills
# DECODERSCOPE_WINDOWS_SOURCES. libxsmm is not among them: on Windows it fetches nothing ahead. The compiler's own libraries
# are linked in, so that the program needs nothing but Windows.
set(DECODERSCOPE_WINDOWS_SOURCES "" CACHE PATH "The libraries' sources for a build for Windows")
set(from ${DECODERSCOPE_WINDOWS_SOURCES})
if(NOT EXISTS ${from}/imgui/imgui.h)
    message(FATAL_ERROR "DECODERSCOPE_WINDOWS_SOURCES: expected the folder that scripts/windows.sh fills, found \"${from}\"")
endif()
enable_language(RC)

set(seldom_called "")
set(with_exceptions "")
include(${CMAKE_CURRENT_LIST_DIR}/from_sources.cmake)
target_compile_definitions(decoderscope_png PRIVATE PNG_INTEL_SSE_OPT=0)  # its sources for them are not compiled
target_link_libraries(decoderscope_imgui PUBLIC imm32)
target_link_libraries(decoderscope_imgui_backends PUBLIC opengl32)

# ---- GLFW: the window, by Windows' own functions
foreach(part DOCS TESTS EXAMPLES)
    set(GLFW_BUILD_${part} OFF CACHE BOOL "" FORCE)
endforeach()
set(GLFW_INSTALL OFF CACHE BOOL "" FORCE)
add_subdirectory(${from}/glfw ${CMAKE_BINARY_DIR}/glfw EXCLUDE_FROM_ALL)
target_compile_options(glfw PRIVATE -w)

# ---- OpenGL. Its header needs Windows' own before it, and declares only version 1.1.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/opengl/GL/gl.h CONTENT [[
#pragma once
#include <windows.h>
#include_next <GL/gl.h>
#include <GL/glext.h>
]])
add_library(decoderscope_opengl INTERFACE)
add_library(decoderscope::opengl ALIAS decoderscope_opengl)
target_include_directories(decoderscope_opengl SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/opengl)
target_link_libraries(decoderscope_opengl INTERFACE glfw opengl32)
target_compile_definitions(decoderscope_opengl INTERFACE GLFW_INCLUDE_NONE)

# ---- Cairo
include(${CMAKE_CURRENT_LIST_DIR}/windows_cairo.cmake)

# ---- oneDNN, which scripts/windows.sh compiled before: only matrix products, on one thread
if(DECODERSCOPE_ONEDNN)
    add_library(decoderscope_onednn INTERFACE)
    add_library(decoderscope::onednn ALIAS decoderscope_onednn)
    target_include_directories(decoderscope_onednn SYSTEM INTERFACE
        ${from}/onednn/include ${from}/onednn/build/include)
    # Without OpenMP there are no threads of which it could be told to use one.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/no_openmp.cpp CONTENT "extern \"C\" void omp_set_num_threads(int) {}\n")
    add_library(decoderscope_no_openmp STATIC ${CMAKE_BINARY_DIR}/no_openmp.cpp)
    target_link_libraries(decoderscope_onednn INTERFACE ${from}/onednn/build/libdnnl.a decoderscope_no_openmp)
endif()
