# belay_backtrace: the static libbacktrace that comes with g++, hidden, for src/os/symbolizer.cc. Included after the
# rooms. Without it call sites are module+offset, and `belay doctor` says so.
add_library(belay_backtrace INTERFACE)

function(_belay_ask_compiler compiler name result)
  execute_process(COMMAND ${compiler} -print-file-name=${name} OUTPUT_VARIABLE answer
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(answer MATCHES "^/" AND EXISTS "${answer}")
    set(${result} "${answer}" PARENT_SCOPE)
  endif()
endfunction()

find_program(BELAY_GXX NAMES g++ g++-12 g++-13 g++-11 DOC "g++, asked for its libbacktrace when the compiler has none")
mark_as_advanced(BELAY_GXX)
foreach(compiler ${CMAKE_CXX_COMPILER} ${BELAY_GXX})
  unset(_archive)
  _belay_ask_compiler(${compiler} libbacktrace.a _archive)
  if(_archive)
    # The header lies in g++'s own include directory, beside the archive. It is copied, because putting that
    # directory on another compiler's path would replace that compiler's intrinsics.
    get_filename_component(_archive "${_archive}" REALPATH)
    get_filename_component(_directory "${_archive}" DIRECTORY)
    if(EXISTS "${_directory}/include/backtrace.h")
      set(BELAY_BACKTRACE_ARCHIVE "${_archive}")
      set(BELAY_BACKTRACE_HEADER "${_directory}/include/backtrace.h")
      break()
    endif()
  endif()
endforeach()

if(BELAY_BACKTRACE_ARCHIVE)
  file(COPY "${BELAY_BACKTRACE_HEADER}" DESTINATION "${CMAKE_BINARY_DIR}/backtrace")
  target_include_directories(belay_backtrace SYSTEM INTERFACE "${CMAKE_BINARY_DIR}/backtrace")
  target_compile_definitions(belay_backtrace INTERFACE BELAY_HAVE_BACKTRACE=1)
  target_link_libraries(belay_backtrace INTERFACE "${BELAY_BACKTRACE_ARCHIVE}")
  target_link_options(belay_backtrace INTERFACE -Wl,--exclude-libs,libbacktrace.a)
else()
  message(STATUS "No libbacktrace: call sites will be module+offset")
endif()

target_link_libraries(belay_os PUBLIC belay_backtrace)
