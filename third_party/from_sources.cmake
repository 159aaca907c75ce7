# Libraries that are compiled here from their sources, where the program is for another system than the one that compiles it:
# for browser.cmake and windows.cmake. `from` is a folder that scripts/sources.sh fills: `include` with the libraries that are
# headers only, and a folder of sources for each of the others. `seldom_called`: options of what isn't called in each frame;
# `with_exceptions`: of what throws, or jumps.
enable_language(C)

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
target_compile_definitions(decoderscope_zlib PRIVATE $<$<NOT:$<BOOL:${WIN32}>>:HAVE_UNISTD_H>)
target_include_directories(decoderscope_zlib SYSTEM PUBLIC ${from}/zlib)
target_compile_options(decoderscope_zlib PRIVATE -w)
add_library(decoderscope_minizip STATIC ${from}/minizip/ioapi.c ${from}/minizip/zip.c ${from}/minizip/unzip.c)
add_library(decoderscope::minizip ALIAS decoderscope_minizip)
target_compile_definitions(decoderscope_minizip PRIVATE NOCRYPT NOUNCRYPT)
target_include_directories(decoderscope_minizip SYSTEM PUBLIC ${from}/minizip)
target_link_libraries(decoderscope_minizip PUBLIC decoderscope_zlib)
target_compile_options(decoderscope_minizip PRIVATE -w ${seldom_called})

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
target_compile_options(decoderscope_png PRIVATE -w ${seldom_called} ${with_exceptions})  # its errors are long jumps

# ---- cmark: the Markdown of lessons, by its own build
set(CMARK_SHARED OFF CACHE BOOL "" FORCE)
set(CMARK_TESTS OFF CACHE BOOL "" FORCE)
add_subdirectory(${from}/cmark ${CMAKE_BINARY_DIR}/cmark EXCLUDE_FROM_ALL)
add_library(decoderscope::cmark ALIAS cmark_static)
target_compile_options(cmark_static PRIVATE -w ${seldom_called})

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
target_compile_options(decoderscope_pcre2 PRIVATE -w ${seldom_called})

# ---- utf8proc
add_library(decoderscope_utf8proc STATIC ${from}/utf8proc/utf8proc.c)
add_library(decoderscope::utf8proc ALIAS decoderscope_utf8proc)
target_compile_definitions(decoderscope_utf8proc PUBLIC UTF8PROC_STATIC)
target_include_directories(decoderscope_utf8proc SYSTEM PUBLIC ${from}/utf8proc)
target_compile_options(decoderscope_utf8proc PRIVATE -w ${seldom_called})

# ---- xxHash: of its sums only XXH64
add_library(decoderscope_xxhash STATIC ${from}/xxhash/xxhash.c)
add_library(decoderscope::xxhash ALIAS decoderscope_xxhash)
target_compile_definitions(decoderscope_xxhash PRIVATE XXH_NO_XXH3)
target_include_directories(decoderscope_xxhash SYSTEM PUBLIC ${from}/xxhash)
target_compile_options(decoderscope_xxhash PRIVATE -w ${seldom_called})

# ---- Catch2
if(DECODERSCOPE_TESTS)
    set(catch_main ${CMAKE_CURRENT_BINARY_DIR}/catch_main.cpp)
    file(CONFIGURE OUTPUT ${catch_main} CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(decoderscope_catch2 STATIC ${catch_main})
    add_library(decoderscope::catch2 ALIAS decoderscope_catch2)
    target_include_directories(decoderscope_catch2 SYSTEM PUBLIC ${from}/catch2/single_include)
    target_compile_definitions(decoderscope_catch2 PUBLIC CATCH_CONFIG_NO_POSIX_SIGNALS)
    target_compile_options(decoderscope_catch2 PRIVATE -w ${with_exceptions})
endif()

# ---- Dear ImGui and its OpenGL backend
add_library(decoderscope_imgui STATIC
    ${from}/imgui/imgui.cpp ${from}/imgui/imgui_draw.cpp ${from}/imgui/imgui_tables.cpp ${from}/imgui/imgui_widgets.cpp
    ${from}/imgui/misc/cpp/imgui_stdlib.cpp)
add_library(decoderscope::imgui ALIAS decoderscope_imgui)
target_include_directories(decoderscope_imgui SYSTEM PUBLIC ${from}/imgui ${from}/imgui/misc/cpp)
target_compile_options(decoderscope_imgui PRIVATE -w)
add_library(decoderscope_imgui_backends STATIC ${from}/imgui/backends/imgui_impl_opengl3.cpp)
add_library(decoderscope::imgui_backends ALIAS decoderscope_imgui_backends)
target_link_libraries(decoderscope_imgui_backends PUBLIC decoderscope_imgui)
target_compile_options(decoderscope_imgui_backends PRIVATE -w)
