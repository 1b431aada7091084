// Why no process of a run loaded Belay's library: what the program would load instead, and how to mend it.
#pragma once

#include <string>

namespace belay::tool {

// `program` is a path; `library_directory` and `search_path` (LD_LIBRARY_PATH) are what the run was given.
std::string ExplainNotLoaded(const std::string& program, const std::string& library_directory,
                             const std::string& search_path);

}  // namespace belay::tool
