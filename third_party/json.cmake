# nlohmann/json: configurations, headers of weight files, edits, exports. Headers only.
find_package(nlohmann_json 3.11 REQUIRED)

add_library(decoderscope_json INTERFACE)
add_library(decoderscope::json ALIAS decoderscope_json)
target_link_libraries(decoderscope_json INTERFACE nlohmann_json::nlohmann_json)
