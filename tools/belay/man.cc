// The manual page belay(1), from the tables of commands, options and quirks: `belay --man`.
#include <cstdio>
#include <string>

#include "command.h"
#include "machine/quirks.h"
#include "options/table.h"

namespace belay::tool {

namespace {

// Text that troff prints as it is.
std::string Plain(std::string_view text) {
  std::string escaped = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char letter : text) {
    if (letter == '\\') {
      escaped += "\\e";
    } else if (letter == '-') {
      escaped += "\\-";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

void Section(const char* title) {
  printf(".SH %s\n", title);
}

// A paragraph with a head in bold.
void Entry(const std::string& head, const std::string& text) {
  printf(".TP\n.B %s\n%s\n", Plain(head).c_str(), Plain(text).c_str());
}

void PrintCommands() {
  Section("COMMANDS");
  std::string missing;
  for (const Command& command : Commands()) {
    if (command.run != nullptr) {
      Entry(std::string(command.usage), std::string(command.help));
    } else {
      missing += (missing.empty() ? "" : ", ") + std::string(command.name);
    }
  }
  if (!missing.empty()) printf(".PP\n%s\n", Plain("Not built yet: " + missing + ".").c_str());
  puts(".PP\nEach command explains itself with \\-\\-help.");
}

void PrintOptionTable() {
  Section("OPTIONS");
  puts(
      "Each has one name in three places: \\-\\-NAME VALUE on the command line, \"name=value; name=value\" "
      "in the variable\n"
      "BELAY, and a key of the TOML file that BELAY_CONFIG names. The first of them that says something "
      "decides.");
  for (const options::OptionInfo& info : options::Table()) {
    std::string text(info.help);
    if (info.repeatable) text += " May be given again.";
    text += " Default: " + std::string(info.standard) + ".";
    if (!info.not_yet.empty()) text += " Not built yet: " + std::string(info.not_yet) + ".";
    Entry("--" + std::string(info.name) + " " + std::string(info.values), text);
  }
}

void PrintQuirks() {
  Section("QUIRKS");
  puts("What \\-\\-quirk NAME=VALUE may name.");
  for (const machine::QuirkInfo& quirk : machine::QuirkTable()) {
    if (!quirk.built) continue;
    Entry(std::string(quirk.name) + "=" + std::string(quirk.values),
          std::string(quirk.help) + " Default: " + std::string(quirk.standard) + ".");
  }
}

}  // namespace

int PrintManual() {
  puts(".TH BELAY 1 \"\" \"belay " BELAY_VERSION
       "\" \"Belay\"\n.SH NAME\nbelay \\- a software Ascend: runs, tests and debugs "
       "AscendCL programs on a machine with no NPU\n.SH SYNOPSIS");
  bool first = true;
  for (const Command& command : Commands()) {
    if (command.run == nullptr) continue;
    printf("%s.B %s\n", first ? "" : ".br\n", Plain(command.usage).c_str());
    first = false;
  }
  PrintCommands();
  PrintOptionTable();
  PrintQuirks();
  Section("EXIT STATUS");
  puts(
      "What the program of \\fBbelay run\\fR gives, 128 + n for signal n; the number of "
      "\\-\\-findings\\-exit\\-code when it "
      "gives 0 and\nan error finding exists; 2 for what the user must mend.");
  Section("FILES");
  Entry("set_env.sh", "In the prefix: sets the variables by which client builds and programs find Belay.");
  Entry("share/belay/products/*.toml", "The products, as a start for your own.");
  Section("SEE ALSO");
  puts("share/doc/belay in the prefix.");
  return 0;
}

}  // namespace belay::tool
