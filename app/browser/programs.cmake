# Three programs for WebAssembly: the command line under node, on node's own file system; the window in a page, whose
# files app/window/browser/files.js brings; and what unpacks those.
add_executable(decoderscope_node browser/main_node.cpp)
target_link_libraries(decoderscope_node PRIVATE app_cli)
target_link_options(decoderscope_node PRIVATE ${for_node} -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2
    -sEXPORTED_FUNCTIONS=_main,_malloc)

set(page ${CMAKE_CURRENT_SOURCE_DIR}/window/browser)
add_executable(decoderscope_page browser/main.cpp)
target_link_libraries(decoderscope_page PRIVATE app_cli)
target_compile_options(decoderscope_page PRIVATE -Oz)
# With its functions' names, by which scripts/browser.sh takes it apart into two.
target_link_options(decoderscope_page PRIVATE ${on_wasm} --profiling-funcs -Wl,--no-demangle -sENVIRONMENT=web -sFORCE_FILESYSTEM=1 -lidbfs.js
    -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 "SHELL:--pre-js ${page}/page.js" "SHELL:--pre-js ${page}/document.js"
    --js-library ${page}/page_library.js
    -sEXPORTED_RUNTIME_METHODS=ccall,FS,IDBFS,UTF8ToString -sEXIT_RUNTIME=0)
set_target_properties(decoderscope_page PROPERTIES LINK_DEPENDS "${page}/page.js;${page}/document.js;${page}/page_library.js")

# By itself: without Emscripten's script, without a main.
add_executable(decoderscope_unpack browser/main_unpack.cpp)
target_include_directories(decoderscope_unpack PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(decoderscope_unpack PRIVATE decoderscope::lzma)
target_compile_options(decoderscope_unpack PRIVATE -Oz -fno-exceptions -fno-rtti)
target_link_options(decoderscope_unpack PRIVATE -Oz -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH=1 -sMALLOC=emmalloc)
set_target_properties(decoderscope_unpack PROPERTIES SUFFIX .wasm)
