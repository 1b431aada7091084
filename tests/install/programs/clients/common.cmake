# add_client(LIBRARY...): the copy, compiled and linked the way the client does it; `include_dirs` and `link_dirs` are its.
function(add_client)
  add_executable(copy ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../copy.c)
  target_include_directories(copy PRIVATE ${include_dirs})
  target_link_directories(copy PRIVATE ${link_dirs})
  # Clients call into every library that they link; this program does not, and must keep them all the same.
  target_link_options(copy PRIVATE -Wl,--no-as-needed)
  target_link_libraries(copy PRIVATE ${ARGN})
endfunction()
