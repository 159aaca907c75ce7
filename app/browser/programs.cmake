# Two programs for WebAssembly: the command line under node, on node's own file system; and the window in a page, whose
# files app/window/browser/files.js brings.
add_executable(decoderscope_node browser/main_node.cpp)
target_link_libraries(decoderscope_node PRIVATE app_cli)
target_link_options(decoderscope_node PRIVATE ${for_node} -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2
    -sEXPORTED_FUNCTIONS=_main,_malloc)

set(page ${CMAKE_CURRENT_SOURCE_DIR}/window/browser)
add_executable(decoderscope_page browser/main.cpp)
target_link_libraries(decoderscope_page PRIVATE app_application)
target_compile_options(decoderscope_page PRIVATE ${for_size})
target_link_options(decoderscope_page PRIVATE ${on_wasm} -sENVIRONMENT=web -sFORCE_FILESYSTEM=1 -lidbfs.js
    -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 "SHELL:--pre-js ${page}/page.js" "SHELL:--pre-js ${page}/document.js"
    --js-library ${page}/page_library.js
    -sEXPORTED_RUNTIME_METHODS=ccall,FS,IDBFS,UTF8ToString -sEXIT_RUNTIME=0)
set_target_properties(decoderscope_page PROPERTIES LINK_DEPENDS "${page}/page.js;${page}/document.js;${page}/page_library.js")
