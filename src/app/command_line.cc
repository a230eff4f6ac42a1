#include "app/command_line.h"

#include "base/format.h"

namespace culvert::app {

const char kUsage[] =
    "Usage: culvert [options]\n"
    "  -d DIR          home directory (default $XDG_CONFIG_HOME/culvert or ~/.config/culvert)\n"
    "  -f FILE         profile (default config.yaml in the home directory; - reads standard "
    "input)\n"
    "  -t              test the profile and exit\n"
    "  -v              print the version and exit\n"
    "  -ext-ctl ADDR   override external-controller\n"
    "  -secret TEXT    override secret\n"
    "  -h              print this help\n"
    "Without a profile the built-in one is used: mixed port 127.0.0.1:7890, controller\n"
    "127.0.0.1:9090 with a generated secret, everything DIRECT.\n";

Result<CommandLine> parse_command_line(const std::vector<std::string>& args, std::string& message) {
  CommandLine out;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string name = args[i];
    if (name.size() < 2 || name[0] != '-') {
      message = format("unexpected argument '{}'", name);
      return Errc::kInvalid;
    }
    name.erase(0, name[1] == '-' ? 2 : 1);
    std::optional<std::string> value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    bool* flag = name == "t"                     ? &out.test
                 : name == "v"                   ? &out.version
                 : name == "h" || name == "help" ? &out.help
                                                 : nullptr;
    if (flag != nullptr) {
      if (value && *value != "true" && *value != "false") {
        message = format("option -{} is true or false, not '{}'", name, *value);
        return Errc::kInvalid;
      }
      *flag = !value || *value == "true";
      continue;
    }
    if (name != "d" && name != "f" && name != "ext-ctl" && name != "secret") {
      message = format("unknown option -{}", name);
      return Errc::kInvalid;
    }
    if (!value) {
      if (i + 1 == args.size()) {
        message = format("option -{} needs a value", name);
        return Errc::kInvalid;
      }
      value = args[++i];
    }
    if (name == "d") {
      out.home = *value;
    } else if (name == "f") {
      out.config = *value;
    } else if (name == "ext-ctl") {
      out.controller = *value;
    } else {
      out.secret = *value;
    }
  }
  return out;
}

}  // namespace culvert::app
