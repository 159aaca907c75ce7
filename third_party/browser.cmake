# The libraries of a build for the browser, compiled here from their sources, as Emscripten's compiler needs them.
# scripts/browser.sh fills DECODERSCOPE_BROWSER_SOURCES. Cairo, oneDNN and libxsmm are not among them: a browser draws by
# its canvas, and products/vectors.cpp multiplies. What isn't called in each frame is compiled for size (-Oz): a page is waited
# for.
set(DECODERSCOPE_BROWSER_SOURCES "" CACHE PATH "The libraries' sources for a build for the browser")
set(from ${DECODERSCOPE_BROWSER_SOURCES})
if(NOT EXISTS ${from}/imgui/imgui.h)
    message(FATAL_ERROR "DECODERSCOPE_BROWSER_SOURCES: expected the folder that scripts/browser.sh fills, found \"${from}\"")
endif()

# How a program is linked: for size, with as much memory as 32 bits address; for node, on node's own file system.
set(on_wasm ${for_size} -fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=4MB -sDYNAMIC_EXECUTION=0)
set(for_node ${on_wasm} -sENVIRONMENT=node -sNODERAWFS=1 -sEXIT_RUNTIME=1)

set(seldom_called ${for_size})
set(with_exceptions -fwasm-exceptions)
include(${CMAKE_CURRENT_LIST_DIR}/from_sources.cmake)
target_compile_definitions(decoderscope_imgui_backends PRIVATE IMGUI_IMPL_OPENGL_ES3)
target_compile_definitions(decoderscope_imgui PUBLIC IMGUI_USE_WCHAR32)  # emoji are characters, too
target_compile_options(decoderscope_zlib PRIVATE -Os)
target_compile_options(decoderscope_imgui PRIVATE -Oz -fno-exceptions)  # nothing is cleaned up behind its calls
set_source_files_properties(${from}/imgui/imgui_draw.cpp PROPERTIES COMPILE_OPTIONS -O3)  # each letter of each frame
