# oneDNN: the large matrix products, by kernels that are made for the CPU at run time. Found without its own CMake
# package, which on Debian 12 asks for OpenCL's headers, too. Its threads are OpenMP's; we ask for one at a time and
# spread the work ourselves (engine/base/parallel.h).
find_path(DECODERSCOPE_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DECODERSCOPE_ONEDNN_LIBRARY dnnl REQUIRED)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Another runtime beside the one that oneDNN was built with would have threads of its own.
    find_library(DECODERSCOPE_OPENMP_LIBRARY NAMES libgomp.so.1 REQUIRED)
else()
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    set(DECODERSCOPE_OPENMP_LIBRARY ${OpenMP_CXX_LIBRARIES})
endif()

add_library(decoderscope_onednn INTERFACE)
add_library(decoderscope::onednn ALIAS decoderscope_onednn)
target_include_directories(decoderscope_onednn SYSTEM INTERFACE ${DECODERSCOPE_ONEDNN_INCLUDE})
target_link_libraries(decoderscope_onednn INTERFACE ${DECODERSCOPE_ONEDNN_LIBRARY} ${DECODERSCOPE_OPENMP_LIBRARY})
