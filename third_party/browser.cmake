# The libraries of a build for the browser, compiled here from their sources, as Emscripten's compiler needs them.
# scripts/browser.sh fills DECODERSCOPE_BROWSER_SOURCES: `include` with the libraries that are headers only, and a folder
# of sources for each of the others. Cairo, oneDNN and libxsmm are not among them: a browser draws by its canvas, and
# products/wasm.cpp multiplies. What isn't called in each frame is compiled for size (-Oz): a page is waited for.
set(DECODERSCOPE_BROWSER_SOURCES "" CACHE PATH "The libraries' sources for a build for the browser")
set(from ${DECODERSCOPE_BROWSER_SOURCES})
if(NOT EXISTS ${from}/imgui/imgui.h)
    message(FATAL_ERROR "DECODERSCOPE_BROWSER_SOURCES: expected the folder that scripts/browser.sh fills, found \"${from}\"")
endif()
enable_language(C)

# How a program is linked: for size, with as much memory as 32 bits address; for node, on node's own file system.
set(on_wasm -Oz -fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=4MB -sDYNAMIC_EXECUTION=0)
set(for_node ${on_wasm} -sENVIRONMENT=node -sNODERAWFS=1 -sEXIT_RUNTIME=1)

# ---- headers only
foreach(library eigen json cli11 fast_float)
    add_library(decoderscope_${library} INTERFACE)
    add_library(decoderscope::${library} ALIAS decoderscope_${library})
    target_include_directories(decoderscope_${library} SYSTEM INTERFACE ${from}/include)
endforeach()
target_include_directories(decoderscope_eigen SYSTEM INTERFACE ${from}/include/eigen3)
target_compile_definitions(decoderscope_eigen INTERFACE EIGEN_DONT_PARALLELIZE)

# ---- zlib and minizip: compression, and the container of an NPZ
file(GLOB sources ${from}/zlib/*.c)
add_library(decoderscope_zlib STATIC ${sources})
add_library(decoderscope::zlib ALIAS decoderscope_zlib)
target_compile_definitions(decoderscope_zlib PRIVATE HAVE_UNISTD_H)
target_include_directories(decoderscope_zlib SYSTEM PUBLIC ${from}/zlib)
target_compile_options(decoderscope_zlib PRIVATE -w -Os)
add_library(decoderscope_minizip STATIC ${from}/minizip/ioapi.c ${from}/minizip/zip.c ${from}/minizip/unzip.c)
add_library(decoderscope::minizip ALIAS decoderscope_minizip)
target_compile_definitions(decoderscope_minizip PRIVATE NOCRYPT NOUNCRYPT)
target_include_directories(decoderscope_minizip SYSTEM PUBLIC ${from}/minizip)
target_link_libraries(decoderscope_minizip PUBLIC decoderscope_zlib)
target_compile_options(decoderscope_minizip PRIVATE -w -Oz)

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

# ---- libpng
file(COPY_FILE ${from}/libpng/scripts/pnglibconf.h.prebuilt ${from}/libpng/pnglibconf.h ONLY_IF_DIFFERENT)
set(sources "")
foreach(part png pngerror pngget pngmem pngpread pngread pngrio pngrtran pngrutil pngset pngtrans pngwio pngwrite pngwtran
        pngwutil)
    list(APPEND sources ${from}/libpng/${part}.c)
endforeach()
add_library(decoderscope_png STATIC ${sources})
add_library(decoderscope::png ALIAS decoderscope_png)
target_include_directories(decoderscope_png SYSTEM PUBLIC ${from}/libpng)
target_link_libraries(decoderscope_png PUBLIC decoderscope_zlib)
target_compile_options(decoderscope_png PRIVATE -w -Oz -fwasm-exceptions)  # its errors are long jumps

# ---- cmark: the Markdown of lessons, by its own build
set(CMARK_SHARED OFF CACHE BOOL "" FORCE)
set(CMARK_TESTS OFF CACHE BOOL "" FORCE)
add_subdirectory(${from}/cmark ${CMAKE_BINARY_DIR}/cmark EXCLUDE_FROM_ALL)
add_library(decoderscope::cmark ALIAS cmark_static)
target_compile_options(cmark_static PRIVATE -w -Oz)

# ---- PCRE2, without its compiler to machine code
file(COPY_FILE ${from}/pcre2/src/config.h.generic ${from}/pcre2/src/config.h ONLY_IF_DIFFERENT)
file(COPY_FILE ${from}/pcre2/src/pcre2.h.generic ${from}/pcre2/src/pcre2.h ONLY_IF_DIFFERENT)
file(COPY_FILE ${from}/pcre2/src/pcre2_chartables.c.dist ${from}/pcre2/src/pcre2_chartables.c ONLY_IF_DIFFERENT)
set(sources "")
foreach(part auto_possess chartables compile config context convert dfa_match error extuni find_bracket jit_compile
        maketables match match_data newline ord2utf pattern_info script_run serialize string_utils study substitute
        substring tables ucd valid_utf xclass)
    list(APPEND sources ${from}/pcre2/src/pcre2_${part}.c)
endforeach()
add_library(decoderscope_pcre2 STATIC ${sources})
add_library(decoderscope::pcre2 ALIAS decoderscope_pcre2)
target_compile_definitions(decoderscope_pcre2
    PRIVATE HAVE_CONFIG_H SUPPORT_UNICODE
    PUBLIC PCRE2_CODE_UNIT_WIDTH=8 PCRE2_STATIC)
target_include_directories(decoderscope_pcre2 SYSTEM PUBLIC ${from}/pcre2/src)
target_compile_options(decoderscope_pcre2 PRIVATE -w -Oz)

# ---- utf8proc
add_library(decoderscope_utf8proc STATIC ${from}/utf8proc/utf8proc.c)
add_library(decoderscope::utf8proc ALIAS decoderscope_utf8proc)
target_compile_definitions(decoderscope_utf8proc PUBLIC UTF8PROC_STATIC)
target_include_directories(decoderscope_utf8proc SYSTEM PUBLIC ${from}/utf8proc)
target_compile_options(decoderscope_utf8proc PRIVATE -w -Oz)

# ---- xxHash: of its sums only XXH64
add_library(decoderscope_xxhash STATIC ${from}/xxhash/xxhash.c)
add_library(decoderscope::xxhash ALIAS decoderscope_xxhash)
target_compile_definitions(decoderscope_xxhash PRIVATE XXH_NO_XXH3)
target_include_directories(decoderscope_xxhash SYSTEM PUBLIC ${from}/xxhash)
target_compile_options(decoderscope_xxhash PRIVATE -w -Oz)

# ---- Catch2
if(DECODERSCOPE_TESTS)
    set(catch_main ${CMAKE_CURRENT_BINARY_DIR}/catch_main.cpp)
    file(CONFIGURE OUTPUT ${catch_main} CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(decoderscope_catch2 STATIC ${catch_main})
    add_library(decoderscope::catch2 ALIAS decoderscope_catch2)
    target_include_directories(decoderscope_catch2 SYSTEM PUBLIC ${from}/catch2/single_include)
    target_compile_definitions(decoderscope_catch2 PUBLIC CATCH_CONFIG_NO_POSIX_SIGNALS)
    target_compile_options(decoderscope_catch2 PRIVATE -w -fwasm-exceptions)
endif()

# ---- Dear ImGui and its OpenGL ES backend
add_library(decoderscope_imgui STATIC
    ${from}/imgui/imgui.cpp ${from}/imgui/imgui_draw.cpp ${from}/imgui/imgui_tables.cpp ${from}/imgui/imgui_widgets.cpp
    ${from}/imgui/misc/cpp/imgui_stdlib.cpp)
add_library(decoderscope::imgui ALIAS decoderscope_imgui)
target_include_directories(decoderscope_imgui SYSTEM PUBLIC ${from}/imgui ${from}/imgui/misc/cpp)
target_compile_options(decoderscope_imgui PRIVATE -w -Oz)
set_source_files_properties(${from}/imgui/imgui_draw.cpp PROPERTIES COMPILE_OPTIONS -O3)  # each letter of each frame
add_library(decoderscope_imgui_backends STATIC ${from}/imgui/backends/imgui_impl_opengl3.cpp)
add_library(decoderscope::imgui_backends ALIAS decoderscope_imgui_backends)
target_compile_definitions(decoderscope_imgui_backends PRIVATE IMGUI_IMPL_OPENGL_ES3)
target_link_libraries(decoderscope_imgui_backends PUBLIC decoderscope_imgui)
target_compile_options(decoderscope_imgui_backends PRIVATE -w)
