#include "options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "options/syntax.h"
#include "options/table.h"

namespace belay::options {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using QuirkPair = std::pair<std::string, std::string>;

// A file that lives as long as the object.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) : path_(testing::TempDir() + "belay_options_XXXXXX") {
    int descriptor = mkstemp(path_.data());
    close(descriptor);
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Options MustLoad(const Sources& sources) {
  auto options = Load(sources);
  EXPECT_TRUE(options) << options.error();
  return options ? *options : Options();
}

std::string MustFail(const Sources& sources) {
  auto options = Load(sources);
  EXPECT_FALSE(options);
  return options ? "" : options.error();
}

Options FromText(const std::string& text) {
  return MustLoad({.environment = text});
}

const Origin& OriginOf(const Options& options, std::string_view name) {
  for (const Origin& origin : options.origins) {
    if (origin.name == name) return origin;
  }
  static const Origin kNone;
  return kNone;
}

TEST(OptionsTest, NothingSetGivesTheDefaults) {
  Options options = MustLoad({});
  EXPECT_EQ(options.product, "atlas-800t-a2");
  EXPECT_EQ(options.cann, facts::Cann::k90);
  EXPECT_EQ(options.devices, 0);
  EXPECT_EQ(options.workers, -1);
  EXPECT_EQ(options.check, "basic");
  EXPECT_EQ(options.sites, 1);
  EXPECT_EQ(options.findings_exit_code, 87);
  EXPECT_EQ(options.stall_after_seconds, 10);
  EXPECT_THAT(options.reports, IsEmpty());
  ASSERT_EQ(options.origins.size(), Table().size());
  for (size_t i = 0; i < Table().size(); ++i) {
    EXPECT_EQ(options.origins[i].name, Table()[i].name);
    EXPECT_EQ(options.origins[i].source, Source::kDefault);
    EXPECT_EQ(options.origins[i].value, Table()[i].standard);
  }
}

TEST(OptionsTest, EveryOptionReachesItsField) {
  Options options = FromText(
      "product=atlas-300i-duo cann=8.5 quirk=peer.lenient=true devices=16 hbm=8GiB host-memory=4GiB "
      "schedule=eager workers=3 stream-depth=0 check=full sites=1 on-finding=trap suppress=s.txt "
      "stall-after=0.5 time=wall fault=none trace=none log=api.jsonl report=a.json report=b.json "
      "findings-exit-code=3 unsupported=abort quiet=on color=off");
  EXPECT_EQ(options.product, "atlas-300i-duo");
  EXPECT_EQ(options.cann, facts::Cann::k85);
  EXPECT_THAT(options.quirks, ElementsAre(QuirkPair("peer.lenient", "true")));
  EXPECT_EQ(options.devices, 16);
  EXPECT_EQ(options.hbm_bytes, 8ull << 30);
  EXPECT_EQ(options.host_memory_bytes, 4ull << 30);
  EXPECT_EQ(options.schedule, Schedule::kEager);
  EXPECT_EQ(options.workers, 3);
  EXPECT_EQ(options.check, "full");
  EXPECT_EQ(options.on_finding, OnFinding::kTrap);
  EXPECT_EQ(options.suppress, "s.txt");
  EXPECT_EQ(options.stall_after_seconds, 0.5);
  EXPECT_EQ(options.log, "api.jsonl");
  EXPECT_THAT(options.reports, ElementsAre("a.json", "b.json"));
  EXPECT_EQ(options.findings_exit_code, 3);
  EXPECT_EQ(options.unsupported, Unsupported::kAbort);
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(options.color, Color::kOff);
  for (const Origin& origin : options.origins) {
    EXPECT_EQ(origin.source, origin.name == "node" ? Source::kDefault : Source::kEnvironment) << origin.name;
  }
}

TEST(OptionsTest, TheCommandLineBeatsBelayBeatsTheFile) {
  ConfigFile file("devices = 2\ncheck = \"off\"\nworkers = 1\n");
  Options options =
      MustLoad({.cli = "devices=4", .environment = "devices=3; check=full", .config_path = file.path()});
  EXPECT_EQ(options.devices, 4);
  EXPECT_EQ(options.check, "full");
  EXPECT_EQ(options.workers, 1);
  EXPECT_EQ(OriginOf(options, "devices").source, Source::kCommandLine);
  EXPECT_EQ(OriginOf(options, "devices").value, "4");
  EXPECT_EQ(OriginOf(options, "check").source, Source::kEnvironment);
  EXPECT_EQ(OriginOf(options, "workers").source, Source::kFile);
  EXPECT_EQ(OriginOf(options, "cann").source, Source::kDefault);
}

TEST(OptionsTest, QuirksMergeByNameAndReportsAreReplaced) {
  ConfigFile file("quirk = [\"a=1\", \"b=1\"]\nreport = \"file.json\"\n");
  Options options = MustLoad({.cli = "quirk=b=3; report=x.json; report=y.json",
                              .environment = "quirk=b=2 quirk=c=2",
                              .config_path = file.path()});
  EXPECT_THAT(options.quirks, ElementsAre(QuirkPair("a", "1"), QuirkPair("c", "2"), QuirkPair("b", "3")));
  EXPECT_THAT(options.reports, ElementsAre("x.json", "y.json"));
  EXPECT_EQ(OriginOf(options, "report").value, "x.json, y.json");
}

TEST(OptionsTest, NoneTakesAFileBack) {
  Options options = MustLoad({.cli = "log=none; report=none", .environment = "log=a.jsonl report=a.json"});
  EXPECT_EQ(options.log, "");
  EXPECT_THAT(options.reports, IsEmpty());
}

TEST(OptionsTest, TheFileMayUseTomlTypes) {
  ConfigFile file(
      "cann = 9.0\nhbm = 8589934592\nstall-after = 2.5\nquiet = true\nreport = [\"a.json\", \"b.json\"]\n"
      "[quirk]\nevent.cross_device = \"allow\"\nstrict_init = true\n\"peer.lenient\" = false\n");
  Options options = MustLoad({.config_path = file.path()});
  EXPECT_EQ(options.cann, facts::Cann::k90);
  EXPECT_EQ(OriginOf(options, "cann").value, "9.0");
  EXPECT_EQ(options.hbm_bytes, 8ull << 30);
  EXPECT_EQ(options.stall_after_seconds, 2.5);
  EXPECT_TRUE(options.quiet);
  EXPECT_THAT(options.reports, ElementsAre("a.json", "b.json"));
  EXPECT_THAT(options.quirks, testing::UnorderedElementsAre(QuirkPair("event.cross_device", "allow"),
                                                            QuirkPair("strict_init", "on"),
                                                            QuirkPair("peer.lenient", "off")));
}

TEST(OptionsTest, BadValuesNameSourceOptionValueAndRule) {
  struct Case {
    const char* text;
    const char* error;
  };
  for (const Case& c :
       {Case{"devices=0", "BELAY: option 'devices': '0' must be a whole number from 1 to 1024"},
        Case{"devices=1025", "1 to 1024"},
        Case{"devices=two", "'two'"},
        Case{"cann=8.2", "8.1, 8.5, 9.0 or 9.1"},
        Case{"hbm=8GB", "KiB, MiB, GiB or TiB"},
        Case{"hbm=0", "more than 0"},
        Case{"schedule=sometimes", "must be async, eager or on-wait"},
        Case{"workers=65", "0 to 64"},
        Case{"sites=0", "1 to 64"},
        Case{"on-finding=stop", "continue, abort or trap"},
        Case{"stall-after=-1", "seconds"},
        Case{"time=fast", "wall, virtual or virtual+host"},
        Case{"report=out.xml", "ends in .json"},
        Case{"findings-exit-code=256", "0 to 255"},
        Case{"unsupported=ignore", "error or abort"},
        Case{"quiet=auto", "on or off"},
        Case{"color=blue", "auto, on or off"},
        Case{"quirk=peer.lenient", "NAME=VALUE"},
        Case{"quirk==x", "NAME=VALUE"},
        Case{"quirk='a='", "NAME=VALUE"},
        Case{"product=''", "product's name"},
        Case{"check=''", "basic,+guard"},
        Case{"log=''", "output file"}}) {
    EXPECT_THAT(MustFail({.environment = c.text}), HasSubstr(c.error)) << c.text;
  }
}

TEST(OptionsTest, WhatIsNotBuiltIsRefusedByName) {
  for (const char* text : {"schedule=random:7", "schedule=pct:7:3", "schedule=replay:f.log", "stream-depth=8",
                           "sites=8", "time=virtual", "time=virtual+host", "fault=plan.toml",
                           "trace=out.json", "report=a.sarif", "report=a.html", "node=shared"}) {
    std::string error = MustFail({.environment = text});
    EXPECT_THAT(error, HasSubstr("is not built yet")) << text;
    std::string name(text, std::string_view(text).find('='));
    EXPECT_THAT(error, HasSubstr("'" + name + "'")) << text;
    EXPECT_NE(Find(name)->not_yet, "") << text;
  }
}

TEST(OptionsTest, AnUnknownNameListsTheNearest) {
  EXPECT_EQ(
      MustFail({.cli = "shedule=eager"}),
      "the command line: there is no option 'shedule'; the nearest are schedule (`belay doctor` lists all)");
  EXPECT_THAT(MustFail({.environment = "find=1"}), HasSubstr("findings-exit-code"));
}

TEST(OptionsTest, ABadValueCountsEvenWhenItIsOverridden) {
  EXPECT_THAT(MustFail({.cli = "devices=2", .environment = "devices=no"}), HasSubstr("'no'"));
}

TEST(OptionsTest, OneSourceMayNotContradictItself) {
  EXPECT_THAT(MustFail({.environment = "check=off check=full"}), HasSubstr("contradicts 'off'"));
  EXPECT_THAT(MustFail({.environment = "quirk=a=1 quirk=a=2"}), HasSubstr("contradicts 'a=1'"));
}

TEST(OptionsTest, FileErrorsNameTheLine) {
  ConfigFile bad_value("check = \"off\"\n\ndevices = 4096\n");
  EXPECT_THAT(MustFail({.config_path = bad_value.path()}),
              HasSubstr(bad_value.path() + ":3: option 'devices'"));
  ConfigFile bad_toml("check = \n");
  EXPECT_THAT(MustFail({.config_path = bad_toml.path()}), HasSubstr(bad_toml.path() + ":1: "));
  ConfigFile bad_name("\nworker = 1\n");
  EXPECT_THAT(MustFail({.config_path = bad_name.path()}), HasSubstr(":2: there is no option 'worker'"));
  ConfigFile table("[check]\nx = 1\n");
  EXPECT_THAT(MustFail({.config_path = table.path()}), HasSubstr("'check' cannot be a table"));
  ConfigFile date("check = 1979-05-27\n");
  EXPECT_THAT(MustFail({.config_path = date.path()}), HasSubstr("'check' must be a text"));
  EXPECT_THAT(MustFail({.config_path = "/nowhere/belay.toml"}),
              HasSubstr("'/nowhere/belay.toml' cannot be read"));
  EXPECT_THAT(MustFail({.config_path = testing::TempDir()}), HasSubstr("cannot be read"));
}

TEST(OptionsTest, WhatTheToolFormatsIsLoaded) {
  std::string cli =
      FormatPairs({{"log", "my log.jsonl"}, {"suppress", "it's; here"}, {"check", "basic,+guard"}});
  Options options = MustLoad({.cli = cli});
  EXPECT_EQ(options.log, "my log.jsonl");
  EXPECT_EQ(options.suppress, "it's; here");
  EXPECT_EQ(options.check, "basic,+guard");
}

TEST(TableTest, NamesAreUniqueAndEveryRowIsExplained) {
  for (const OptionInfo& info : Table()) {
    EXPECT_EQ(Find(info.name), &info);
    EXPECT_TRUE(info.help.ends_with('.')) << info.name;
    EXPECT_FALSE(info.values.empty()) << info.name;
    EXPECT_FALSE(info.standard.empty()) << info.name;
    EXPECT_TRUE(info.built || !info.not_yet.empty()) << info.name;
  }
}

}  // namespace
}  // namespace belay::options
