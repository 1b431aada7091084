// A tile of a matrix goes to a device and back on a stream, while the bytes around it stay what they were.
//
// Host matrices lie in pinned memory, so that the copies are really asynchronous; the device keeps the tile
// with a pitch of its own. An event after the upload shows how to wait for a part of a stream. Exit code 0
// means that every call and byte was right.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>

namespace {

bool Ok(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return true;
  const char* why = aclGetRecentErrMsg();
  std::printf("%s returned %d\n  %s\n", call, static_cast<int>(code), why != nullptr ? why : "");
  return false;
}

#define OK(call) Ok((call), #call)

constexpr size_t kRows = 480, kPitch = 2048;         // the host matrix, in bytes
constexpr size_t kTileRows = 200, kTileWidth = 900;  // the part that travels
constexpr size_t kTileAt = 100 * kPitch + 500;       // its first byte
constexpr size_t kDevicePitch = 1024;                // rows on the device start at multiples of this
constexpr uint8_t kBlank = 0xee;

bool InTile(size_t row, size_t column) {
  return row >= 100 && row < 100 + kTileRows && column >= 500 && column < 500 + kTileWidth;
}

struct Things {
  void* from = nullptr;
  void* to = nullptr;
  void* tile = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent uploaded = nullptr;
};

bool Create(Things& t) {
  return OK(aclrtMallocHost(&t.from, kRows * kPitch)) && OK(aclrtMallocHost(&t.to, kRows * kPitch)) &&
         OK(aclrtMalloc(&t.tile, kTileRows * kDevicePitch, ACL_MEM_MALLOC_HUGE_FIRST)) &&
         OK(aclrtCreateStream(&t.stream)) && OK(aclrtCreateEvent(&t.uploaded));
}

bool Travel(Things& t) {
  auto* from = static_cast<uint8_t*>(t.from);
  auto* to = static_cast<uint8_t*>(t.to);
  for (size_t i = 0; i < kRows * kPitch; ++i) {
    from[i] = static_cast<uint8_t>(i * 31 + i / kPitch);
    to[i] = kBlank;
  }
  if (!OK(aclrtMemcpy2dAsync(t.tile, kDevicePitch, from + kTileAt, kPitch, kTileWidth, kTileRows,
                             ACL_MEMCPY_HOST_TO_DEVICE, t.stream))) {
    return false;
  }
  if (!OK(aclrtRecordEvent(t.uploaded, t.stream))) return false;
  // From here on `from` may be written again; without this wait it may not.
  if (!OK(aclrtSynchronizeEvent(t.uploaded))) return false;
  if (!OK(aclrtMemcpy2dAsync(to + kTileAt, kPitch, t.tile, kDevicePitch, kTileWidth, kTileRows,
                             ACL_MEMCPY_DEVICE_TO_HOST, t.stream))) {
    return false;
  }
  if (!OK(aclrtSynchronizeStream(t.stream))) return false;

  for (size_t row = 0; row < kRows; ++row) {
    for (size_t column = 0; column < kPitch; ++column) {
      const size_t i = row * kPitch + column;
      if (to[i] != (InTile(row, column) ? from[i] : kBlank)) {
        std::printf("wrong byte in row %zu, column %zu\n", row, column);
        return false;
      }
    }
  }
  std::printf("verified: %zu x %zu bytes travelled, %zu bytes around them untouched\n", kTileRows, kTileWidth,
              kRows * kPitch - kTileRows * kTileWidth);
  return true;
}

bool Destroy(Things& t) {
  bool good = true;
  if (t.uploaded != nullptr) good &= OK(aclrtDestroyEvent(t.uploaded));
  if (t.stream != nullptr) good &= OK(aclrtDestroyStream(t.stream));
  if (t.tile != nullptr) good &= OK(aclrtFree(t.tile));
  if (t.to != nullptr) good &= OK(aclrtFreeHost(t.to));
  if (t.from != nullptr) good &= OK(aclrtFreeHost(t.from));
  return good;
}

}  // namespace

int main() {
  if (!OK(aclInit(nullptr)) || !OK(aclrtSetDevice(0))) return 1;
  Things things;
  const bool travelled = Create(things) && Travel(things);
  const bool clean = Destroy(things);
  return OK(aclrtResetDevice(0)) && OK(aclFinalize()) && travelled && clean ? 0 : 1;
}
