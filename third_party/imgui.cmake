# Dear ImGui: the panels. `imgui` for code that draws; `imgui_backends` adds the OpenGL 3 backend, for the window, which
# talks to GLFW itself. Debian's archive holds both; a checkout of upstream, named by DECODERSCOPE_IMGUI_DIR, is built here.
add_library(decoderscope_imgui INTERFACE)
add_library(decoderscope::imgui ALIAS decoderscope_imgui)
add_library(decoderscope_imgui_backends INTERFACE)
add_library(decoderscope::imgui_backends ALIAS decoderscope_imgui_backends)

if(DECODERSCOPE_IMGUI_DIR)
    set(from ${DECODERSCOPE_IMGUI_DIR})
    add_library(imgui_upstream STATIC
        ${from}/imgui.cpp ${from}/imgui_draw.cpp ${from}/imgui_tables.cpp ${from}/imgui_widgets.cpp
        ${from}/misc/cpp/imgui_stdlib.cpp)
    target_include_directories(imgui_upstream SYSTEM PUBLIC ${from} ${from}/misc/cpp)
    add_library(imgui_upstream_backends STATIC
        ${from}/backends/imgui_impl_opengl3.cpp)
    target_link_libraries(imgui_upstream_backends PUBLIC imgui_upstream)

    target_link_libraries(decoderscope_imgui INTERFACE imgui_upstream)
    target_link_libraries(decoderscope_imgui_backends INTERFACE imgui_upstream_backends)
else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui>=1.86)
    target_link_libraries(decoderscope_imgui INTERFACE PkgConfig::IMGUI)
    target_link_libraries(decoderscope_imgui_backends INTERFACE decoderscope_imgui)
endif()
target_link_libraries(decoderscope_imgui_backends INTERFACE ${CMAKE_DL_LIBS})
