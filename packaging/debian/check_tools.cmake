# cpack makes a package without these, too, but one that doesn't say which libraries it needs.
foreach(tool dpkg-shlibdeps file)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message(FATAL_ERROR "${tool} is missing, by which the package learns what it depends on: apt-get install dpkg-dev file")
    endif()
endforeach()
