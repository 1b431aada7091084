#include "program.h"

#include <sstream>

namespace model {
namespace {

struct FieldInfo {
  const char* name;
  int64_t Call::*member;
};

constexpr FieldInfo kThread{"t", &Call::thread}, kDevice{"d", &Call::device},
    kStream{"stream", &Call::stream}, kObject{"object", &Call::object}, kDst{"dst", &Call::dst},
    kDstAt{"dst_at", &Call::dst_at}, kDstPitch{"dst_pitch", &Call::dst_pitch}, kSrc{"src", &Call::src},
    kSrcAt{"src_at", &Call::src_at}, kSrcPitch{"src_pitch", &Call::src_pitch}, kWidth{"width", &Call::width},
    kHeight{"height", &Call::height}, kRoom{"room", &Call::room}, kValue{"value", &Call::value},
    kFlag{"flag", &Call::flag};

constexpr FieldInfo kEveryField[] = {kThread, kDevice,   kStream, kObject, kDst,  kDstAt, kDstPitch, kSrc,
                                     kSrcAt,  kSrcPitch, kWidth,  kHeight, kRoom, kValue, kFlag};

constexpr const char* kNames[] = {
    "fork",        "join",          "signal",       "await",         "create-stream", "destroy-stream",
    "sync-stream", "poll-stream",   "query-stream", "sync-device",   "copy",          "copy-async",
    "copy-2d",     "copy-2d-async", "fill",         "fill-async",    "host-write",    "read",
    "malloc",      "free",          "create-event", "destroy-event", "record",        "wait",
    "reset",       "query-event",   "query-waits",  "sync-event",    "poll-event",    "record-notify",
    "wait-notify", "value-write",   "value-wait",   "host-func",     "subscribe",     "unsubscribe",
    "callback",    "peer-open",     "peer-close",   "peer-status",   "streams-left",  "events-left",
    "memory-left", "hold",          "release",      "land",          "pending",
};
static_assert(std::size(kNames) == static_cast<size_t>(Kind::kCount));

constexpr const char* kEventKinds[] = {"plain", "ex", "flag"};

}  // namespace

const char* KindName(Kind kind) {
  return kNames[static_cast<size_t>(kind)];
}

// A field that has its default is left out.
std::string ToText(const Call& call) {
  static constexpr Call kDefault{};
  std::ostringstream text;
  text << KindName(call.kind);
  for (const FieldInfo& field : kEveryField) {
    bool always = field.member == &Call::thread || field.member == &Call::device;
    if (always || call.*field.member != kDefault.*field.member) {
      text << ' ' << field.name << '=' << call.*field.member;
    }
  }
  return text.str();
}

std::string ToText(const Program& program) {
  std::ostringstream text;
  text << "program seed=" << program.seed << " devices=" << program.devices << " signals=" << program.signals
       << '\n';
  for (const BufferSpec& buffer : program.buffers) {
    text << "buffer place=" << buffer.place << " size=" << buffer.size << " words=" << buffer.words << '\n';
  }
  for (int64_t device : program.streams) text << "stream device=" << device << '\n';
  for (const EventSpec& event : program.events) {
    text << "event device=" << event.device << " kind=" << kEventKinds[static_cast<size_t>(event.kind)]
         << '\n';
  }
  for (int64_t device : program.notifies) text << "notify device=" << device << '\n';
  for (const Call& call : program.calls) text << ToText(call) << '\n';
  return text.str();
}

std::optional<Program> Parse(const std::string& text) {
  Program program;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name, word;
    if (!(words >> name) || name[0] == '#') continue;
    std::vector<std::pair<std::string, std::string>> pairs;
    while (words >> word) {
      size_t equals = word.find('=');
      if (equals == std::string::npos) return std::nullopt;
      pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    auto number = [&](const char* key) -> int64_t {
      for (const auto& [k, v] : pairs) {
        if (k == key) return std::stoll(v);
      }
      return 0;
    };
    if (name == "program") {
      program.seed = static_cast<uint64_t>(number("seed"));
      program.devices = static_cast<int>(number("devices"));
      program.signals = static_cast<int>(number("signals"));
    } else if (name == "buffer") {
      program.buffers.push_back({number("place"), number("size"), number("words")});
    } else if (name == "stream") {
      program.streams.push_back(number("device"));
    } else if (name == "notify") {
      program.notifies.push_back(number("device"));
    } else if (name == "event") {
      EventSpec event{number("device"), EventKind::kPlain};
      for (const auto& [k, v] : pairs) {
        for (size_t i = 0; i < std::size(kEventKinds); ++i) {
          if (k == "kind" && v == kEventKinds[i]) event.kind = static_cast<EventKind>(i);
        }
      }
      program.events.push_back(event);
    } else {
      Call call;
      for (size_t i = 0; i < std::size(kNames); ++i) {
        if (name == kNames[i]) call.kind = static_cast<Kind>(i);
      }
      if (call.kind == Kind::kCount) return std::nullopt;
      for (const auto& [k, v] : pairs) {
        for (const FieldInfo& field : kEveryField) {
          if (k == field.name) call.*field.member = std::stoll(v);
        }
      }
      program.calls.push_back(call);
    }
  }
  return program;
}

}  // namespace model
