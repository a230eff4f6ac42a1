#include "rt/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace culvert::rt {
namespace {

// CPUs' worth of quota, rounded up; 0 when there is none.
unsigned quota_cpus() {
  long long quota = -1, period = 0;
  if (std::FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    if (std::fscanf(f, "%lld %lld", &quota, &period) != 2) quota = -1;  // "max 100000"
    std::fclose(f);
  } else {
    for (auto [path, value] : {std::pair{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota},
                               std::pair{"/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period}}) {
      std::FILE* v1 = std::fopen(path, "re");
      if (v1 == nullptr) return 0;
      if (std::fscanf(v1, "%lld", value) != 1) *value = -1;
      std::fclose(v1);
    }
  }
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<unsigned>(std::max(1LL, (quota + period - 1) / period));
}

}  // namespace

unsigned usable_cpus() {
  unsigned n = 1;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    n = std::max(1u, static_cast<unsigned>(CPU_COUNT(&set)));
  }
  const unsigned quota = quota_cpus();
  return quota != 0 ? std::min(n, quota) : n;
}

}  // namespace culvert::rt
