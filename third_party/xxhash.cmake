# xxHash: the checksums by which a session recognises its model's files.
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)

add_library(decoderscope_xxhash INTERFACE)
add_library(decoderscope::xxhash ALIAS decoderscope_xxhash)
target_link_libraries(decoderscope_xxhash INTERFACE PkgConfig::XXHASH)
