#include "check/run_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "os/thread.h"

namespace belay::check {

namespace {

constexpr uint64_t kMagic = 0x6e75722079616c62;  // "blay run"
constexpr uint64_t kThreadsStart = 4096;
constexpr uint64_t kHeapStart = 1 << 20;

uint64_t Self() {
  return static_cast<uint64_t>(getpid()) << 32 | os::ThreadId();
}

bool OwnerIsGone(uint64_t owner) {
  auto process = static_cast<pid_t>(owner >> 32);
  auto thread = static_cast<pid_t>(owner & 0xffffffff);
  return syscall(SYS_tgkill, process, thread, 0) != 0 && errno == ESRCH;
}

}  // namespace

struct RunPage::FindingSlot {
  std::atomic<uint64_t> count;   // times it was seen
  std::atomic<uint64_t> offset;  // in the page
  std::atomic<uint32_t> length;  // 0 = not published
  uint32_t count_at;
  Severity severity;
};

struct RunPage::Header {
  std::atomic<uint64_t> magic;
  uint32_t version;
  uint32_t bytes;
  std::atomic<uint32_t> loaded;
  std::atomic<uint32_t> processes;
  std::atomic<uint32_t> thread_hint;
  std::atomic<uint32_t> threads_used;  // slots below were used at some time
  std::atomic<uint32_t> findings;
  std::atomic<uint64_t> heap_used;
  std::atomic<uint64_t> by_severity[3];
  std::atomic<uint64_t> lost;
  std::atomic<uint64_t> devices_opened[kDevices / 64];
  std::atomic<uint32_t> profile_state;  // 0 nobody, 1 being written, 2 written
  uint32_t devices;
  char product[128];
  char cann[16];
};

tl::expected<RunPage, std::string> RunPage::Create() {
  int fd = memfd_create("belay-run", MFD_CLOEXEC);
  if (fd < 0) return tl::unexpected(std::string("cannot make the run page: ") + strerror(errno));
  void* memory = MAP_FAILED;
  if (ftruncate(fd, kBytes) == 0) {
    memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  if (memory == MAP_FAILED) {
    int code = errno;
    close(fd);
    return tl::unexpected(std::string("cannot map the run page: ") + strerror(code));
  }
  RunPage page(static_cast<Header*>(memory), fd, /*from_run=*/true);
  page.Format();
  return page;
}

RunPage::Header* RunPage::MapExisting(const char* path, size_t bytes) {
  int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat facts {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &facts) == 0 && facts.st_size == kBytes) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) return nullptr;
  auto* header = static_cast<Header*>(memory);
  if (header->magic.load(std::memory_order_acquire) == kMagic && header->version == kVersion) return header;
  munmap(memory, bytes);
  return nullptr;
}

tl::expected<RunPage, std::string> RunPage::Open(const char* path) {
  if (Header* header = MapExisting(path, kBytes)) return RunPage(header, -1, /*from_run=*/true);
  // Shared with forked children, so that what they find reaches the report of the first process.
  void* memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return tl::unexpected(std::string("cannot map the run page: ") + strerror(errno));
  RunPage page(static_cast<Header*>(memory), -1, /*from_run=*/false);
  page.Format();
  return page;
}

RunPage::RunPage(Header* header, int fd, bool from_run) : header_(header), fd_(fd), from_run_(from_run) {
  static_assert(sizeof(Header) <= kThreadsStart);
  static_assert(kThreadsStart + kThreads * sizeof(ThreadCounters) + kFindings * sizeof(FindingSlot) <=
                kHeapStart);
  char* base = reinterpret_cast<char*>(header);
  threads_ = reinterpret_cast<ThreadCounters*>(base + kThreadsStart);
  slots_ = reinterpret_cast<FindingSlot*>(threads_ + kThreads);
}

RunPage::RunPage(RunPage&& other) noexcept
    : header_(std::exchange(other.header_, nullptr)),
      threads_(other.threads_),
      slots_(other.slots_),
      fd_(std::exchange(other.fd_, -1)),
      from_run_(other.from_run_) {}

RunPage::~RunPage() {
  if (header_ != nullptr) munmap(header_, kBytes);
  if (fd_ >= 0) close(fd_);
}

// The mapping is all zero, which is a legal value of every member but these.
void RunPage::Format() {
  header_->version = kVersion;
  header_->bytes = kBytes;
  header_->heap_used.store(kHeapStart, std::memory_order_relaxed);
  header_->thread_hint.store(1, std::memory_order_relaxed);
  header_->threads_used.store(1, std::memory_order_relaxed);
  threads_[0].shared_ = 1;
  header_->magic.store(kMagic, std::memory_order_release);
}

void RunPage::NoteLoaded(const char* path) {
  Header* header = MapExisting(path, kThreadsStart);
  if (header == nullptr) return;
  header->loaded.fetch_add(1, std::memory_order_relaxed);
  munmap(header, kThreadsStart);
}

uint32_t RunPage::loaded() const {
  return header_->loaded.load(std::memory_order_relaxed);
}

void RunPage::AddProcess() {
  header_->processes.fetch_add(1, std::memory_order_relaxed);
}

uint32_t RunPage::processes() const {
  return header_->processes.load(std::memory_order_relaxed);
}

ThreadCounters* RunPage::AcquireSlot() {
  const uint64_t self = Self();
  auto take = [&](uint32_t index, uint64_t owner) {
    if (!threads_[index].owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) return false;
    header_->thread_hint.store(index + 1, std::memory_order_relaxed);
    uint32_t used = header_->threads_used.load(std::memory_order_relaxed);
    while (used <= index &&
           !header_->threads_used.compare_exchange_weak(used, index + 1, std::memory_order_relaxed)) {
    }
    return true;
  };
  const uint32_t hint = header_->thread_hint.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t index = (hint + i) % kThreads;
    if (index != 0 && threads_[index].owner_.load(std::memory_order_relaxed) == 0 && take(index, 0)) {
      return &threads_[index];
    }
  }
  // Processes that were killed released nothing.
  for (uint32_t index = 1; index < kThreads; ++index) {
    uint64_t owner = threads_[index].owner_.load(std::memory_order_relaxed);
    if (owner != 0 && OwnerIsGone(owner) && take(index, owner)) return &threads_[index];
  }
  return &threads_[0];
}

void RunPage::ReleaseSlot(ThreadCounters* slot) {
  if (slot == nullptr || slot->shared_ != 0) return;
  slot->owner_.store(0, std::memory_order_release);
  header_->thread_hint.store(static_cast<uint32_t>(slot - threads_), std::memory_order_relaxed);
}

RunTotals RunPage::totals() const {
  RunTotals totals;
  const uint32_t used = header_->threads_used.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < used && i < kThreads; ++i) {
    totals.calls += threads_[i].calls();
    totals.copies += threads_[i].copies();
    totals.bytes += threads_[i].bytes();
    totals.unguarded_copies += threads_[i].unguarded_copies();
  }
  return totals;
}

void RunPage::MarkDeviceOpened(int device) {
  if (device < 0 || device >= kDevices) return;
  header_->devices_opened[device / 64].fetch_or(uint64_t{1} << (device % 64), std::memory_order_relaxed);
}

bool RunPage::device_opened(int device) const {
  if (device < 0 || device >= kDevices) return false;
  return (header_->devices_opened[device / 64].load(std::memory_order_relaxed) >> (device % 64)) & 1;
}

int RunPage::devices_opened() const {
  int count = 0;
  for (const auto& word : header_->devices_opened) {
    count += __builtin_popcountll(word.load(std::memory_order_relaxed));
  }
  return count;
}

void RunPage::SetProfile(std::string_view product, std::string_view cann, uint32_t devices) {
  uint32_t nobody = 0;
  if (!header_->profile_state.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) return;
  auto copy = [](char* to, size_t room, std::string_view from) {
    memcpy(to, from.data(), from.size() < room - 1 ? from.size() : room - 1);
  };
  copy(header_->product, sizeof header_->product, product);
  copy(header_->cann, sizeof header_->cann, cann);
  header_->devices = devices;
  header_->profile_state.store(2, std::memory_order_release);
}

bool RunPage::has_profile() const {
  return header_->profile_state.load(std::memory_order_acquire) == 2;
}

std::string_view RunPage::product() const {
  return has_profile() ? header_->product : std::string_view();
}

std::string_view RunPage::cann() const {
  return has_profile() ? header_->cann : std::string_view();
}

uint32_t RunPage::devices() const {
  return has_profile() ? header_->devices : 0;
}

RunPage::Reservation RunPage::Reserve(Severity severity, size_t capacity) {
  header_->by_severity[static_cast<size_t>(severity)].fetch_add(1, std::memory_order_relaxed);
  Reservation reservation;
  reservation.capacity = capacity;
  uint32_t index = header_->findings.load(std::memory_order_relaxed);
  do {
    if (index >= kFindings) break;
  } while (!header_->findings.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  uint64_t offset = header_->heap_used.load(std::memory_order_relaxed);
  do {
    if (index >= kFindings || offset + capacity > kBytes) {
      header_->lost.fetch_add(1, std::memory_order_relaxed);
      return {};
    }
  } while (!header_->heap_used.compare_exchange_weak(offset, offset + capacity, std::memory_order_relaxed));
  reservation.index = index;
  reservation.offset = offset;
  reservation.data = reinterpret_cast<char*>(header_) + offset;
  slots_[index].severity = severity;
  return reservation;
}

void RunPage::Publish(const Reservation& reservation, size_t length, size_t count_at) {
  if (reservation.data == nullptr) return;
  // Gives back what was reserved too much, unless somebody has reserved behind it.
  uint64_t end = reservation.offset + reservation.capacity;
  header_->heap_used.compare_exchange_strong(end, reservation.offset + length, std::memory_order_relaxed);
  FindingSlot& slot = slots_[reservation.index];
  slot.count_at = static_cast<uint32_t>(count_at);
  slot.offset.store(reservation.offset, std::memory_order_relaxed);
  slot.count.fetch_add(1, std::memory_order_relaxed);
  slot.length.store(static_cast<uint32_t>(length), std::memory_order_release);
}

void RunPage::CountRepeats(uint32_t index, uint64_t repeats) {
  if (index < kFindings) slots_[index].count.fetch_add(repeats, std::memory_order_relaxed);
}

void RunPage::CountLost(Severity severity) {
  header_->by_severity[static_cast<size_t>(severity)].fetch_add(1, std::memory_order_relaxed);
  header_->lost.fetch_add(1, std::memory_order_relaxed);
}

uint64_t RunPage::count(Severity severity) const {
  return header_->by_severity[static_cast<size_t>(severity)].load(std::memory_order_relaxed);
}

uint64_t RunPage::lost() const {
  return header_->lost.load(std::memory_order_relaxed);
}

uint32_t RunPage::finding_slots() const {
  uint32_t used = header_->findings.load(std::memory_order_relaxed);
  return used < kFindings ? used : kFindings;
}

bool RunPage::ReadFinding(uint32_t index, StoredFinding* out) const {
  if (index >= finding_slots()) return false;
  const FindingSlot& slot = slots_[index];
  const uint64_t length = slot.length.load(std::memory_order_acquire);
  const uint64_t offset = slot.offset.load(std::memory_order_relaxed);
  if (length == 0 || slot.count_at > length || offset < kHeapStart || offset + length > kBytes) return false;
  std::string_view object(reinterpret_cast<const char*>(header_) + offset, length);
  out->head = object.substr(0, slot.count_at);
  out->tail = object.substr(slot.count_at);
  out->count = slot.count.load(std::memory_order_relaxed);
  out->severity = slot.severity;
  return true;
}

}  // namespace belay::check
