// The commands of `belay`: one function each, in a file of the same name.
//
// Data goes to stdout, talk to stderr. Exit codes: 0, kUsage for what the user must mend, or what the command
// says.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace belay::tool {

constexpr int kUsage = 2;

using Arguments = std::span<char* const>;  // what follows the command's name

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view help;                      // one sentence
  int (*run)(Arguments arguments) = nullptr;  // null: not built yet
};

std::span<const Command> Commands();

int RunCommand(Arguments arguments);
int DoctorCommand(Arguments arguments);
int ExplainCommand(Arguments arguments);
int ProductsCommand(Arguments arguments);
int TopoCommand(Arguments arguments);

// The manual page, on stdout.
int PrintManual();
// The tool under the name npu-smi: what client builds ask the vendor's tool for.
int NpuSmi(Arguments arguments);

// Prints "belay: TEXT" on stderr.
void Say(const std::string& text);
// Says an error and returns kUsage.
int Refuse(const std::string& text);

}  // namespace belay::tool
