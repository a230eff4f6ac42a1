// How many workers this process should run.
#pragma once

namespace culvert::rt {

// CPUs that affinity and the cgroup's quota (v2 cpu.max, v1 cfs quota) allow, at least 1.
unsigned usable_cpus();

}  // namespace culvert::rt
