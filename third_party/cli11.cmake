# CLI11: the command line. Headers only.
find_package(CLI11 2.1 REQUIRED)

add_library(decoderscope_cli11 INTERFACE)
add_library(decoderscope::cli11 ALIAS decoderscope_cli11)
target_link_libraries(decoderscope_cli11 INTERFACE CLI11::CLI11)
