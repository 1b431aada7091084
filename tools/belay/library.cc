#include "library.h"

#include <unistd.h>

#include <filesystem>

namespace belay::tool {

std::string LibraryDirectory() {
  std::error_code error;
  auto tool = std::filesystem::canonical("/proc/self/exe", error);
  return (tool.parent_path().parent_path() / "lib64").string();
}

bool LibraryExists() {
  return access((LibraryDirectory() + "/" + kLibraryName).c_str(), R_OK) == 0;
}

}  // namespace belay::tool
