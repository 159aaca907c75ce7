# PCRE2: the regular expressions by which tokenizers cut a text, with Unicode's classes of characters.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8>=10.40)

add_library(decoderscope_pcre2 INTERFACE)
add_library(decoderscope::pcre2 ALIAS decoderscope_pcre2)
target_link_libraries(decoderscope_pcre2 INTERFACE PkgConfig::PCRE2)
