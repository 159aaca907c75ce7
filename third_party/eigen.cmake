# Eigen: numbers of half precision, comparisons of arrays. Headers only.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

add_library(decoderscope_eigen INTERFACE)
add_library(decoderscope::eigen ALIAS decoderscope_eigen)
target_link_libraries(decoderscope_eigen INTERFACE Eigen3::Eigen)
# One thread adds in one order: the same sum every time.
target_compile_definitions(decoderscope_eigen INTERFACE EIGEN_DONT_PARALLELIZE)
