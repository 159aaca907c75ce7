# Cairo: draws the exported PNG and SVG.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo>=1.16)

add_library(decoderscope_cairo INTERFACE)
add_library(decoderscope::cairo ALIAS decoderscope_cairo)
target_link_libraries(decoderscope_cairo INTERFACE PkgConfig::CAIRO)
