# Cairo: draws the exported PNG and PDF, in the faces that Fontconfig finds.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo>=1.16 cairo-ft fontconfig)

add_library(decoderscope_cairo INTERFACE)
add_library(decoderscope::cairo ALIAS decoderscope_cairo)
target_link_libraries(decoderscope_cairo INTERFACE PkgConfig::CAIRO)
