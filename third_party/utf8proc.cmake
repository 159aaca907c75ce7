# utf8proc: Unicode's normal forms and categories of characters, where a tokenizer normalises a text.
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc>=2.5)

add_library(decoderscope_utf8proc INTERFACE)
add_library(decoderscope::utf8proc ALIAS decoderscope_utf8proc)
target_link_libraries(decoderscope_utf8proc INTERFACE PkgConfig::UTF8PROC)
