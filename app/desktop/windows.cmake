# Two programs of one on Windows. What is double-clicked is decoderscope.exe, which has no console. Where `decoderscope` is
# typed, Windows prefers decoderscope.com, which has one.
set(DECODERSCOPE_WINDOWS_ICON "" CACHE FILEPATH "The program's icon, which scripts/windows.sh draws")
set(DECODERSCOPE_WINDOWS_MANIFEST ${CMAKE_CURRENT_BINARY_DIR}/decoderscope.manifest)
configure_file(${PROJECT_SOURCE_DIR}/packaging/windows/decoderscope.manifest.in ${DECODERSCOPE_WINDOWS_MANIFEST} @ONLY)
set(description ${CMAKE_CURRENT_BINARY_DIR}/decoderscope.rc)
configure_file(${PROJECT_SOURCE_DIR}/packaging/windows/decoderscope.rc.in ${description} @ONLY)
target_sources(decoderscope PRIVATE ${description})
target_link_options(decoderscope PRIVATE -mwindows)
add_executable(decoderscope_console desktop/main.cpp ${description})
target_link_libraries(decoderscope_console PRIVATE app_cli)
set_target_properties(decoderscope_console PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_NAME decoderscope SUFFIX .com)
