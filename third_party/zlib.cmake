# zlib: arrays that numpy.savez_compressed wrote. Cairo's PNG and minizip need it anyway.
find_package(ZLIB REQUIRED)

add_library(decoderscope_zlib INTERFACE)
add_library(decoderscope::zlib ALIAS decoderscope_zlib)
target_link_libraries(decoderscope_zlib INTERFACE ZLIB::ZLIB)
