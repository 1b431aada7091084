#include "options/options.h"

#include <cstdlib>

#include "options/config_file.h"
#include "options/syntax.h"
#include "options/table.h"

namespace belay::options {
namespace {

struct Setting {
  const OptionInfo* info;
  std::string value;
  Source source;
  std::string where;  // for errors
};

tl::unexpected<std::string> Refuse(const std::string& where, std::string_view name, std::string_view value,
                                   const std::string& why) {
  std::string text = where + ": option '";
  text.append(name).append("': '").append(value).append("' ").append(why);
  return tl::unexpected(text);
}

// Settings with equal slots contradict each other; each quirk is a slot of its own.
std::string_view Slot(const Setting& setting) {
  if (setting.info->name != "quirk") return setting.info->name;
  return std::string_view(setting.value).substr(0, setting.value.find('='));
}

bool SameSlot(const Setting& a, const Setting& b) {
  return a.info == b.info && Slot(a) == Slot(b);
}

// Adds one setting and drops those of lower sources that it overrides.
tl::expected<void, std::string> Add(std::vector<Setting>& settings, const std::string& where, Source source,
                                    const std::string& name, const std::string& value) {
  const OptionInfo* info = Find(name);
  if (info == nullptr) {
    return tl::unexpected(where + ": there is no option '" + name + "'; the nearest are " +
                          NearestOptions(name) + " (`belay doctor` lists all)");
  }
  // A bad value is an error even where a higher source overrides it.
  Options scratch;
  if (Verdict verdict = info->set(scratch, value); !verdict)
    return Refuse(where, name, value, verdict.error());

  Setting added{info, value, source, where};
  bool many = info->repeatable && name != "quirk";
  for (const Setting& other : settings) {
    if (other.source == source && SameSlot(other, added) && !many) {
      return Refuse(where, name, value, "contradicts '" + other.value + "', given before in the same place");
    }
  }
  std::erase_if(settings,
                [&](const Setting& other) { return other.source < source && SameSlot(other, added); });
  settings.push_back(std::move(added));
  return {};
}

tl::expected<void, std::string> AddText(std::vector<Setting>& settings, Source source,
                                        const std::string& text) {
  const std::string where = SourceName(source);
  auto pairs = ParsePairs(text);
  if (!pairs) return tl::unexpected(where + ": " + pairs.error());
  for (const auto& [name, value] : *pairs) {
    if (auto added = Add(settings, where, source, name, value); !added) return added;
  }
  return {};
}

tl::expected<void, std::string> AddFile(std::vector<Setting>& settings, const std::string& path) {
  auto file = ReadConfigFile(path);
  if (!file) return tl::unexpected(file.error());
  for (const FileSetting& setting : *file) {
    auto added = Add(settings, setting.where, Source::kFile, setting.name, setting.value);
    if (!added) return added;
  }
  return {};
}

std::vector<Origin> OriginsOf(const std::vector<Setting>& settings) {
  std::vector<Origin> origins;
  for (const OptionInfo& info : Table()) {
    Origin origin{info.name, "", Source::kDefault};
    for (const Setting& setting : settings) {
      if (setting.info != &info) continue;
      if (!origin.value.empty()) origin.value += ", ";
      origin.value += setting.value;
      origin.source = setting.source;
    }
    if (origin.source == Source::kDefault) origin.value = info.standard;
    origins.push_back(std::move(origin));
  }
  return origins;
}

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

}  // namespace

Sources FromEnvironment() {
  return {.cli = Variable("BELAY_CLI"),
          .environment = Variable("BELAY"),
          .config_path = Variable("BELAY_CONFIG")};
}

const char* SourceName(Source source) {
  switch (source) {
    case Source::kDefault:
      return "the default";
    case Source::kFile:
      return "the file of BELAY_CONFIG";
    case Source::kEnvironment:
      return "BELAY";
    case Source::kCommandLine:
      return "the command line";
  }
  return "";
}

tl::expected<Options, std::string> Load(const Sources& sources) {
  std::vector<Setting> settings;
  if (!sources.config_path.empty()) {
    if (auto added = AddFile(settings, sources.config_path); !added) return tl::unexpected(added.error());
  }
  if (auto added = AddText(settings, Source::kEnvironment, sources.environment); !added) {
    return tl::unexpected(added.error());
  }
  if (auto added = AddText(settings, Source::kCommandLine, sources.cli); !added) {
    return tl::unexpected(added.error());
  }

  Options options;
  for (const Setting& setting : settings) {
    Verdict verdict = setting.info->set(options, setting.value);
    if (!verdict) return Refuse(setting.where, setting.info->name, setting.value, verdict.error());
  }
  options.origins = OriginsOf(settings);
  return options;
}

}  // namespace belay::options
