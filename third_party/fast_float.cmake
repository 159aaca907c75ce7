# fast_float: numbers from text, exactly, where a standard library reads only whole ones. Headers only.
# Its package calls itself compatible with its own major version alone, so any is asked for, and then compared.
find_package(FastFloat REQUIRED)
if(FastFloat_VERSION VERSION_LESS 3.9)
    message(FATAL_ERROR "fast_float: expected version 3.9 or newer, found ${FastFloat_VERSION} in ${FastFloat_DIR}")
endif()

add_library(decoderscope_fast_float INTERFACE)
add_library(decoderscope::fast_float ALIAS decoderscope_fast_float)
target_link_libraries(decoderscope_fast_float INTERFACE FastFloat::fast_float)
