#pragma once
// What the random programs play with: devices, streams, blocks, events, notifies and words of device memory.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "progress.h"

#define OK(call)                                                                     \
  do {                                                                               \
    if (const aclError code_ = (call); code_ != ACL_SUCCESS) {                       \
      std::fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code_); \
      std::_Exit(1);                                                                 \
    }                                                                                \
  } while (0)

namespace order {

// The same numbers everywhere, which std::uniform_int_distribution does not promise.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) { state_ = Next(); }
  uint64_t Next();
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  bool Percent(int chance) { return Below(100) < chance; }
  template <class T>
  T& One(std::vector<T>& of) {
    return of[static_cast<size_t>(Below(static_cast<int>(of.size())))];
  }

 private:
  uint64_t state_;
};

inline constexpr int kBlockBytes = 256;

enum class Place { kDevice, kPinned, kPageable };

struct Block {
  Place place;
  int device = -1;
  uint8_t* bytes = nullptr;
  size_t size = kBlockBytes;
  std::vector<Mark> uses;  // since it was allocated
};

struct Stream {
  aclrtStream handle = nullptr;  // null: the default stream of the device
  int device = 0;
  int progress = -1;
};

// Plain or Ex: a wait is bound to the latest record.
struct SnapshotEvent {
  aclrtEvent handle = nullptr;
  int device = 0;
  bool ex = false;
  std::optional<Mark> record;
};

// One bit on the device. Nothing else may come between a reset and the records and waits before it, or
// between a reset and what needs it.
struct FlagEvent {
  aclrtEvent handle = nullptr;
  int device = 0;
  int signal = -1;
  std::vector<Mark> uses;  // since the reset
  std::optional<Mark> record, reset;
};

// A round is one wait and one record in either order, until the host knows of both. A further record may
// leave the bit set, so the notify is then used up.
struct Notify {
  aclrtNotify handle = nullptr;
  int device = 0;
  int signal = -1;
  std::optional<Mark> wait, record;
  bool used_up = false;
};

// Eight bytes of a device. Every write of a round is at least `base`, every wait asks for at least that; or
// there is one write in the round and the waits ask for its value.
struct Word {
  uint64_t* at = nullptr;
  int device = 0;
  int signal = -1;
  uint64_t base = 8;
  std::optional<uint64_t> equal, written;
  bool overwritten = false;  // in this program, with something larger than all values
  std::vector<Mark> uses;
};

struct World {
  explicit World(uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Makes the device of a call the current one.
  void Select(int device);
  Stream MakeStream(int device);
  SnapshotEvent MakeEvent(int device, bool ex);
  Notify MakeNotify(int device);
  // Bytes for a block of device memory, whose device is selected, or of pinned memory.
  static uint8_t* Allocate(const Block& block);
  static void Free(const Block& block);

  Random random;
  Progress progress;
  int current = -1;
  std::vector<int> devices;
  std::vector<Stream> streams;
  std::vector<Stream> spare;  // one a device; nothing in it ever waits
  std::vector<Block> blocks;
  std::vector<SnapshotEvent> events;
  std::vector<FlagEvent> flags;
  std::vector<Notify> notifies;
  std::vector<Block> word_blocks;
  std::vector<Word> words;
};

}  // namespace order
