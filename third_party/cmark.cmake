# cmark: CommonMark's reference implementation, which reads the lessons.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMARK REQUIRED IMPORTED_TARGET libcmark>=0.29)

add_library(decoderscope_cmark INTERFACE)
add_library(decoderscope::cmark ALIAS decoderscope_cmark)
target_link_libraries(decoderscope_cmark INTERFACE PkgConfig::CMARK)
