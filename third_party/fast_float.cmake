# fast_float: numbers from text, exactly, where a standard library reads only whole ones. Headers only.
find_package(FastFloat 3.9 REQUIRED)

add_library(decoderscope_fast_float INTERFACE)
add_library(decoderscope::fast_float ALIAS decoderscope_fast_float)
target_link_libraries(decoderscope_fast_float INTERFACE FastFloat::fast_float)
