# Turns the fact table api/**/*.toml into C++ at build time: target belay_facts, and the sources in
# BELAY_ENTRY_SOURCES that src/abi compiles into the library.
set(BELAY_GEN_DIR ${CMAKE_BINARY_DIR}/gen)

set(BELAY_ENTRY_SOURCES "")
foreach(bucket device stream memory kernel tensor queue profile adapter)
  list(APPEND BELAY_ENTRY_SOURCES ${BELAY_GEN_DIR}/belay/abi/entries_${bucket}.cc)
endforeach()
list(APPEND BELAY_ENTRY_SOURCES ${BELAY_GEN_DIR}/belay/abi/asserts.cc)

set(BELAY_FACT_SOURCES "")
set(belay_fact_headers ${BELAY_GEN_DIR}/belay/abi/traits.h ${BELAY_GEN_DIR}/belay/abi/bodies.h)
foreach(name functions codes enums)
  list(APPEND BELAY_FACT_SOURCES ${BELAY_GEN_DIR}/belay/facts/${name}.cc)
  list(APPEND belay_fact_headers ${BELAY_GEN_DIR}/belay/facts/${name}.h)
endforeach()

file(GLOB belay_api_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/*.py ${CMAKE_SOURCE_DIR}/api/*.toml
     ${CMAKE_SOURCE_DIR}/api/functions/*.toml)
# Outputs whose text did not change keep their time, so the stamp is what the rule compares.
add_custom_command(
  OUTPUT ${BELAY_GEN_DIR}/stamp
  BYPRODUCTS ${BELAY_ENTRY_SOURCES} ${BELAY_FACT_SOURCES} ${belay_fact_headers}
             ${BELAY_GEN_DIR}/belay/exports.txt
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/api/generate.py --build ${BELAY_GEN_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${BELAY_GEN_DIR}/stamp
  DEPENDS ${belay_api_inputs}
  COMMENT "Generating from api/"
  VERBATIM)
add_custom_target(belay_generate DEPENDS ${BELAY_GEN_DIR}/stamp)

add_library(belay_facts STATIC ${BELAY_FACT_SOURCES})
add_dependencies(belay_facts belay_generate)
target_include_directories(belay_facts PUBLIC ${BELAY_GEN_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(belay_facts PRIVATE belay_flags)
