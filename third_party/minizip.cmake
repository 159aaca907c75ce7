# minizip: the container of an exported NPZ.
find_package(PkgConfig REQUIRED)
pkg_check_modules(MINIZIP REQUIRED IMPORTED_TARGET minizip)

add_library(decoderscope_minizip INTERFACE)
add_library(decoderscope::minizip ALIAS decoderscope_minizip)
target_link_libraries(decoderscope_minizip INTERFACE PkgConfig::MINIZIP)
