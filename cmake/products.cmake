# Compiles products/*.toml into belay_machine, so that the library needs no file at run time.
file(GLOB product_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/products/*.toml)
list(SORT product_files)

set(product_rows "")
foreach(file ${product_files})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND product_rows "    {\"${name}\", R\"belay-product(${text})belay-product\"},\n")
endforeach()

set(product_source ${CMAKE_BINARY_DIR}/products/embedded.cc)
set(product_text "// Written by cmake/products.cmake from products/*.toml.
#include \"machine/embedded.h\"

namespace belay::machine {
namespace {

constexpr EmbeddedProduct kProducts[] = {
${product_rows}};

}  // namespace

std::span<const EmbeddedProduct> EmbeddedProducts() { return kProducts; }

}  // namespace belay::machine
")
# Written only when it changed, so that a new configure run rebuilds nothing.
set(product_old "")
if(EXISTS ${product_source})
  file(READ ${product_source} product_old)
endif()
if(NOT product_old STREQUAL product_text)
  file(WRITE ${product_source} "${product_text}")
endif()
target_sources(belay_machine PRIVATE ${product_source})
