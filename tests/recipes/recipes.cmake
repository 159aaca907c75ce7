# The recipe "A view" of CONTRIBUTING.md, carried out: a tab is a folder and a line. The folder is compiled into a test,
# and the line (with its include) is put into a copy of the list of tabs, which the linker takes instead of app_views'
# own. No other file is changed.
set(list_of_tabs ${PROJECT_SOURCE_DIR}/app/views/shell/tabs.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list_of_tabs})
file(READ ${list_of_tabs} tabs)
string(REPLACE "#include <array>\n" "#include \"tests/recipes/magnitudes_tab/tab.h\"\n#include <array>\n" tabs "${tabs}")
string(REPLACE "\n    };\n" "\n        magnitudes_tab(),\n    };\n" tabs "${tabs}")
if(NOT tabs MATCHES "tab.h\"\n#include <array>" OR NOT tabs MATCHES "magnitudes_tab\\(\\),\n    };")
    message(FATAL_ERROR "${list_of_tabs}: the recipe's line finds no place in it")
endif()
file(CONFIGURE OUTPUT recipes/tabs.cpp CONTENT "${tabs}" @ONLY)

add_room_test(test_recipes recipes driver)
target_sources(test_recipes PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/recipes/tabs.cpp)
