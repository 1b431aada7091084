// A program that grows: a call is kept if the interpreter accepts it; a race is mended by adding an edge.
//
// A call is kept only if the program can still be brought to an end from there: what was promised (the record
// of an event that a stream already waits for, for example) is then submitted, and nothing stays blocked.
#pragma once

#include <random>
#include <vector>

#include "feature.h"
#include "interpreter.h"

namespace model {

class Builder {
 protected:
  Builder(uint64_t seed, unsigned features);

  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  bool Chance(size_t percent) { return Below(100) < percent; }
  bool Has(unsigned feature) const { return (features_ & feature) != 0; }

  // Keeps the call if the program goes on to have one outcome. `promise` is submitted at the end at the
  // latest.
  Verdict Try(const Call& call, const Call* promise = nullptr);
  // The same, but adds edges where there is a race.
  bool Attempt(const Call& call, const Call* promise = nullptr);
  // Applies what brings the program to its end.
  Verdict End(Interpreter& sim, const std::vector<Call>& promises, std::vector<Call>* calls);

  static Call MakeCall(Kind kind, int64_t thread, int64_t device, int64_t stream = -1, int64_t object = -1) {
    Call call;
    call.kind = kind;
    call.thread = thread;
    call.device = device;
    call.stream = stream;
    call.object = object;
    return call;
  }
  // A task for a stream of a random thread.
  Call OnStream(Kind kind) {
    int64_t thread = PickThread(), stream = PickStream(thread);
    return MakeCall(kind, thread, DeviceOf(stream), stream);
  }

  int64_t DeviceOf(int64_t stream) const { return program_.streams[static_cast<size_t>(stream)]; }
  int64_t PlaceOf(int64_t buffer) const { return program_.buffers[static_cast<size_t>(buffer)].place; }
  int64_t SizeOf(int64_t buffer) const { return program_.buffers[static_cast<size_t>(buffer)].size; }

  // -1 where there is none.
  int64_t PickDevice() { return static_cast<int64_t>(Below(static_cast<size_t>(program_.devices))); }
  int64_t PickThread();
  int64_t PickStream(int64_t thread);
  int64_t PickEvent(int64_t device, bool snapshot);
  int64_t PickNotify(int64_t device);
  int64_t PickWords(int64_t device);
  template <class Fits>
  int64_t PickBuffer(Fits fits) {
    for (int tries = 0; tries < 30; ++tries) {
      auto buffer = static_cast<int64_t>(Below(program_.buffers.size()));
      if (program_.buffers[static_cast<size_t>(buffer)].words == 0 && sim_.buffer_lives(buffer) &&
          fits(PlaceOf(buffer))) {
        return buffer;
      }
    }
    return -1;
  }
  // Ranges often begin at 0, so that they meet often.
  void PickRange(int64_t size, int64_t width, int64_t& at) {
    at = Chance(50) ? 0 : static_cast<int64_t>(Below(static_cast<size_t>(size - width + 1)));
  }
  int64_t PickWidth(int64_t most) {
    return Chance(40) ? most : 1 + static_cast<int64_t>(Below(static_cast<size_t>(most)));
  }

 private:
  Interpreter Start(uint64_t seed);
  void Shape();
  bool AddEdge(const Call& call, int actor);
  static bool Submits(Kind kind);

  const unsigned features_;
  int64_t signals_ = 0;

 protected:
  std::mt19937_64 random_;
  size_t most_threads_ = 1;
  Program program_;
  Interpreter sim_;
  std::vector<Call> promises_;
};

}  // namespace model
