// loadgen <mode> [--option value]...: see modes.h.
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "modes.h"

int main(int argc, char** argv) {
  using namespace culvert::load;
  struct Mode {
    std::string_view name;
    int (*run)(const Options&);
  };
  static constexpr Mode kModes[] = {
      {"server", serve},        {"tcp", run_streams},   {"short", run_short}, {"hold", run_hold},
      {"stopped", run_stopped}, {"udp", run_datagrams}, {"dns", run_dns},
  };
  signal(SIGPIPE, SIG_IGN);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  for (const Mode& mode : kModes) {
    if (argc >= 2 && mode.name == argv[1]) return mode.run(Options(argc - 2, argv + 2));
  }
  std::fputs("usage: loadgen server|tcp|short|hold|stopped|udp|dns [--option value]...\n", stderr);
  return 2;
}
