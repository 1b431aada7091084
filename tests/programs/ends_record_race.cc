// One thread records an event while another makes a stream wait for it. Whichever comes first, the wait is
// for a record that was submitted before it (SPEC 20 §4.2), so everything comes to its end.
#include <atomic>

#include "program.h"

namespace program {
namespace {

// Two threads that start each round together; the bodies run in rounds until all are done.
void Together(int rounds, const std::function<void()>& one, const std::function<void()>& two,
              const std::function<void()>& after) {
  aclrtContext context = nullptr;
  OK(aclrtGetCurrentContext(&context));
  std::atomic<int> begun{0}, ended{0};
  std::thread other([&] {
    OK(aclrtSetCurrentContext(context));
    for (int round = 1; round <= rounds; ++round) {
      while (begun < round) std::this_thread::yield();
      two();
      ended = round;
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    begun = round;
    one();
    while (ended < round) std::this_thread::yield();
    after();
  }
  other.join();
}

// The stream of the record waits for it: before the record that wait must be for an older one.
void OneStream(aclrtEvent event, int rounds) {
  aclrtStream stream = NewStream();
  const auto record = [&] { OK(aclrtRecordEvent(event, stream)); };
  const auto wait = [&] { OK(aclrtStreamWaitEvent(stream, event)); };
  Together(rounds, record, wait, [&] { OK(aclrtSynchronizeStream(stream)); });
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(stream));
}

// Two streams, two events: each thread waits in its stream for the other's event and records its own.
void TwoStreams(aclrtEvent mine, aclrtEvent yours, int rounds) {
  aclrtStream one = NewStream(), two = NewStream();
  const auto first = [&] {
    OK(aclrtStreamWaitEvent(one, yours));
    OK(aclrtRecordEvent(mine, one));
  };
  const auto second = [&] {
    OK(aclrtStreamWaitEvent(two, mine));
    OK(aclrtRecordEvent(yours, two));
  };
  Together(rounds, first, second, [&] {
    OK(aclrtSynchronizeStream(one));
    OK(aclrtSynchronizeStream(two));
  });
  for (aclrtEvent event : {mine, yours}) OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : {one, two}) OK(aclrtDestroyStream(stream));
}

aclrtEvent Plain() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));
  return event;
}
aclrtEvent Ex() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kRounds = 1'000;  // a round takes ten times as long
#else
  constexpr int kRounds = 8'000;
#endif
  for (auto* make : {Plain, Ex}) {
    OneStream(make(), kRounds);
    TwoStreams(make(), make(), kRounds);
  }
  End();
  return 0;
}
