// The product files that are compiled into the library; cmake/products.cmake writes the definition.
#pragma once

#include <span>
#include <string_view>

namespace belay::machine {

struct EmbeddedProduct {
  std::string_view name;  // the file's name without .toml
  std::string_view text;
};

// Ordered by name.
std::span<const EmbeddedProduct> EmbeddedProducts();

}  // namespace belay::machine
