#include "app/hooks.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

namespace culvert::app {
namespace {

// -1 after a failure, which was told.
pid_t spawn_shell(const std::string& name, const std::string& command) {
  // What this program ignores, the command should not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults, mask;
  sigemptyset(&mask);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "/bin/sh", option = "-c", text = command;
  char* arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, shell.c_str(), nullptr, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  std::fprintf(stderr, "culvert: %s: %s\n", name.c_str(), std::strerror(error));
  return -1;
}

void wait_for(const std::string& name, pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "culvert: %s: exit status %d\n", name.c_str(), WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "culvert: %s: ended by signal %d\n", name.c_str(), WTERMSIG(status));
  }
}

}  // namespace

void start_hook(const std::string& name, const std::string& command) {
  if (command.empty()) return;
  const pid_t pid = spawn_shell(name, command);
  // Nobody waits for this thread: the command may outlive the program.
  if (pid >= 0) std::thread(wait_for, name, pid).detach();
}

void run_hook(const std::string& name, const std::string& command) {
  if (command.empty()) return;
  const pid_t pid = spawn_shell(name, command);
  if (pid >= 0) wait_for(name, pid);
}

}  // namespace culvert::app
