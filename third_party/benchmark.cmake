# Google Benchmark: how long single operations take. Only with -DDECODERSCOPE_BENCHMARKS=ON.
find_package(benchmark REQUIRED)

add_library(decoderscope_benchmark INTERFACE)
add_library(decoderscope::benchmark ALIAS decoderscope_benchmark)
target_link_libraries(decoderscope_benchmark INTERFACE benchmark::benchmark)
