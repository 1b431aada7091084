#include "options/text_file.h"

#include <fstream>
#include <iterator>

namespace belay::options {

std::optional<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  // A directory opens and then fails at its first byte.
  file.peek();
  if (file.bad()) return std::nullopt;
  file.clear();
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace belay::options
