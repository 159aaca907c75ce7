# Cairo for Windows, with what it draws by: pixman, and FreeType for the faces. Images, PNG and PDF, nothing of Windows'
# own and no Fontconfig. Their own builds are autotools' and Meson's; what they would find out is written down here.

# The C files that a list of a Makefile.sources names.
function(sources_named result file)
    file(READ ${file} text)
    string(REPLACE "\\\n" " " text "${text}")
    set(found "")
    foreach(list IN LISTS ARGN)
        if("\n${text}" MATCHES "\n${list}[ \t]*=([^\n]*)")
            string(REGEX MATCHALL "[A-Za-z0-9_-]+\\.c" names "${CMAKE_MATCH_1}")
            list(APPEND found ${names})
        endif()
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# ---- FreeType, by its own build
foreach(library ZLIB BZIP2 PNG HARFBUZZ BROTLI)
    set(FT_DISABLE_${library} ON CACHE BOOL "" FORCE)
endforeach()
set(SKIP_INSTALL_ALL ON)
add_subdirectory(${from}/freetype ${CMAKE_BINARY_DIR}/freetype EXCLUDE_FROM_ALL)
target_compile_options(freetype PRIVATE -w)
# Else it brings a zlib of its own, whose names are the same.
target_compile_definitions(freetype PRIVATE FT_CONFIG_OPTION_SYSTEM_ZLIB)
target_link_libraries(freetype PRIVATE decoderscope_zlib)

# ---- pixman
sources_named(sources ${from}/pixman/pixman/Makefile.sources libpixman_sources)
list(TRANSFORM sources PREPEND ${from}/pixman/pixman/)
list(APPEND sources ${from}/pixman/pixman/pixman-sse2.c ${from}/pixman/pixman/pixman-ssse3.c)
set(PIXMAN_VERSION_MAJOR 0)
set(PIXMAN_VERSION_MINOR 42)
set(PIXMAN_VERSION_MICRO 2)
configure_file(${from}/pixman/pixman/pixman-version.h.in ${CMAKE_BINARY_DIR}/cairo/pixman-version.h @ONLY)
add_library(decoderscope_pixman STATIC ${sources})
set_source_files_properties(${from}/pixman/pixman/pixman-ssse3.c PROPERTIES COMPILE_OPTIONS -mssse3)
target_include_directories(decoderscope_pixman SYSTEM PUBLIC ${from}/pixman/pixman ${CMAKE_BINARY_DIR}/cairo)
target_compile_definitions(decoderscope_pixman PRIVATE PACKAGE="pixman" TLS=__thread SIZEOF_LONG=4 USE_SSE2 USE_SSSE3
    USE_GCC_INLINE_ASM HAVE_BUILTIN_CLZ HAVE_GCC_VECTOR_EXTENSIONS TOOLCHAIN_SUPPORTS_ATTRIBUTE_CONSTRUCTOR)
target_compile_options(decoderscope_pixman PRIVATE -w)

# ---- Cairo
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/cairo/cairo-features.h CONTENT [[
#ifndef CAIRO_FEATURES_H
#define CAIRO_FEATURES_H  // its own headers ask for this name
#define CAIRO_HAS_FT_FONT 1
#define CAIRO_HAS_IMAGE_SURFACE 1
#define CAIRO_HAS_MIME_SURFACE 1
#define CAIRO_HAS_OBSERVER_SURFACE 1
#define CAIRO_HAS_PDF_SURFACE 1
#define CAIRO_HAS_PNG_FUNCTIONS 1
#define CAIRO_HAS_RECORDING_SURFACE 1
#define CAIRO_HAS_USER_FONT 1
#endif
]])
sources_named(sources ${from}/cairo/src/Makefile.sources cairo_sources _cairo_font_subset_sources
    _cairo_pdf_operators_sources _cairo_deflate_stream_sources cairo_png_sources cairo_pdf_sources cairo_ft_sources)
list(TRANSFORM sources PREPEND ${from}/cairo/src/)
add_library(decoderscope_cairo STATIC ${sources})
add_library(decoderscope::cairo ALIAS decoderscope_cairo)
target_include_directories(decoderscope_cairo SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/cairo ${from}/cairo ${from}/cairo/src)
target_compile_definitions(decoderscope_cairo
    PRIVATE PACKAGE_VERSION="1.16.0" HAVE_STDINT_H HAVE_INTTYPES_H HAVE_UINT64_T HAVE_UNISTD_H HAVE_SYS_STAT_H
        HAVE_SYS_TYPES_H HAVE_IO_H HAVE_TIME_H HAVE_ZLIB SIZEOF_VOID_P=8 SIZEOF_SIZE_T=8 SIZEOF_INT=4 SIZEOF_LONG=4
        SIZEOF_LONG_LONG=8 HAVE_CXX11_ATOMIC_PRIMITIVES HAVE_FT_LOAD_SFNT_TABLE HAVE_FT_GLYPHSLOT_EMBOLDEN
        HAVE_FT_GLYPHSLOT_OBLIQUE HAVE_FT_LIBRARY_SETLCDFILTER HAVE_FT_GET_X11_FONT_FORMAT
        HAVE_FT_GET_VAR_DESIGN_COORDINATES HAVE_FT_DONE_MM_VAR HAS_PIXMAN_GLYPHS=1
    PUBLIC CAIRO_WIN32_STATIC_BUILD)
target_compile_options(decoderscope_cairo PRIVATE -w)
target_link_libraries(decoderscope_cairo PUBLIC decoderscope_png freetype PRIVATE decoderscope_pixman decoderscope_zlib)
