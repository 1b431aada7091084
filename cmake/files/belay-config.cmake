# Gives the imported target belay::ascendcl. The prefix is found from this file, so the tree may be moved.
get_filename_component(BELAY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET belay::ascendcl)
  add_library(belay::ascendcl SHARED IMPORTED)
  set_target_properties(belay::ascendcl PROPERTIES
    IMPORTED_LOCATION "${BELAY_PREFIX}/lib64/libascendcl.so"
    IMPORTED_SONAME libascendcl.so
    INTERFACE_INCLUDE_DIRECTORIES "${BELAY_PREFIX}/include")
endif()
set(BELAY_RUN "${BELAY_PREFIX}/bin/belay")
