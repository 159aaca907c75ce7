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
set(on_wasm -Oz -fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=4MB -sDYNAMIC_EXECUTION=0)
set(for_node ${on_wasm} -sENVIRONMENT=node -sNODERAWFS=1 -sEXIT_RUNTIME=1)

set(seldom_called -Oz)
set(with_exceptions -fwasm-exceptions)
include(${CMAKE_CURRENT_LIST_DIR}/from_sources.cmake)
target_compile_definitions(decoderscope_imgui_backends PRIVATE IMGUI_IMPL_OPENGL_ES3)
target_compile_options(decoderscope_zlib PRIVATE -Os)
target_compile_options(decoderscope_imgui PRIVATE -Oz -fno-exceptions)  # nothing is cleaned up behind its calls
set_source_files_properties(${from}/imgui/imgui_draw.cpp PROPERTIES COMPILE_OPTIONS -O3)  # each letter of each frame

# ---- liblzma: what unpacks the page's files, in a program of its own (app/browser/main_unpack.cpp)
set(xz ${from}/xz/src/liblzma)
add_library(decoderscope_lzma STATIC ${xz}/check/check.c ${xz}/check/crc32_small.c
    ${xz}/common/block_decoder.c ${xz}/common/block_header_decoder.c ${xz}/common/block_util.c ${xz}/common/common.c
    ${xz}/common/filter_common.c ${xz}/common/filter_decoder.c ${xz}/common/filter_flags_decoder.c
    ${xz}/common/index_hash.c ${xz}/common/stream_decoder.c ${xz}/common/stream_flags_common.c
    ${xz}/common/stream_flags_decoder.c ${xz}/common/vli_decoder.c ${xz}/common/vli_size.c ${xz}/lz/lz_decoder.c
    ${xz}/lzma/lzma2_decoder.c ${xz}/lzma/lzma_decoder.c)
add_library(decoderscope::lzma ALIAS decoderscope_lzma)
target_compile_definitions(decoderscope_lzma
    PRIVATE HAVE_STDBOOL_H HAVE_STDINT_H HAVE_INTTYPES_H HAVE_STRING_H HAVE_LIMITS_H HAVE_FUNC_ATTRIBUTE_CONSTRUCTOR
        HAVE_SMALL HAVE_CHECK_CRC32 HAVE_DECODERS HAVE_DECODER_LZMA1 HAVE_DECODER_LZMA2 TUKLIB_FAST_UNALIGNED_ACCESS
    PUBLIC LZMA_API_STATIC)
target_include_directories(decoderscope_lzma SYSTEM
    PRIVATE ${from}/xz/src/common ${xz}/common ${xz}/check ${xz}/lz ${xz}/lzma ${xz}/rangecoder ${xz}/simple
        ${xz}/delta
    PUBLIC ${xz}/api)
target_compile_options(decoderscope_lzma PRIVATE -w -Oz)
