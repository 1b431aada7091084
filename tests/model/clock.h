// Vector clocks over the actors of a program: who is known to have come how far (SPEC 20 §1).
#pragma once

#include <array>
#include <cstdint>

namespace model {

constexpr int kMostDevices = 3, kMostThreads = 3, kMostStreams = 14;

// Actors: host threads, then streams, then per stream the bodies of its callbacks that do not block it.
constexpr int kActors = kMostThreads + 2 * kMostStreams;
constexpr int ThreadActor(int64_t thread) {
  return static_cast<int>(thread);
}
constexpr int StreamActor(int64_t stream) {
  return kMostThreads + static_cast<int>(stream);
}
constexpr int BodyActor(int64_t stream) {
  return kMostThreads + kMostStreams + static_cast<int>(stream);
}

// clock[a] is the number of the last step of actor `a`, counted from 1, that has surely ended.
struct Clock {
  std::array<uint16_t, kActors> at{};

  uint16_t& operator[](int actor) { return at[static_cast<size_t>(actor)]; }
  uint16_t operator[](int actor) const { return at[static_cast<size_t>(actor)]; }
  void Join(const Clock& other) {
    for (size_t i = 0; i < at.size(); ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
};

}  // namespace model
