// One child process in the terminal and process group of the tool, waited for to its end.
//
// Signals that somebody sends to the tool (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2) go on to the
// child; those that the terminal sends reach the child by themselves, because it is in the same group.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace belay::tool {

struct ChildEnd {
  int status = 0;         // exit code, or 128 + signal
  int signal = 0;         // 0: it exited
  std::string not_found;  // not empty: it did not start, and this says why; status is then 126 or 127
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// `program` is looked up in PATH if it holds no '/'. The variables replace those of the same name.
ChildEnd RunChild(const std::vector<std::string>& command, const Variables& variables);

// The file that `program` names, through PATH as execvp does; empty if there is none.
std::string FindProgram(const std::string& program);

}  // namespace belay::tool
