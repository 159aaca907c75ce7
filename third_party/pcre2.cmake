# PCRE2: Unicode's classes of characters, where a text is cut into words before byte-pair encoding.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8>=10.32)

add_library(decoderscope_pcre2 INTERFACE)
add_library(decoderscope::pcre2 ALIAS decoderscope_pcre2)
target_link_libraries(decoderscope_pcre2 INTERFACE PkgConfig::PCRE2)
