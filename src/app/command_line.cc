#include "app/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/format.h"
#include "base/ip.h"
#include "wire/base64.h"

namespace culvert::app {

const char kUsage[] =
    "Usage: culvert [options]\n"
    "       culvert keys\n"
    "       culvert explain [options] (--url URL | --host HOST) [--port N] [--network tcp|udp]\n"
    "               [--source ADDRESS] [--inbound NAME] [--user NAME]\n"
    "  -d DIR                home directory (default $XDG_CONFIG_HOME/culvert or "
    "~/.config/culvert)\n"
    "  -f FILE               profile (default config.yaml in the home directory; - reads standard "
    "input)\n"
    "  -config TEXT          the profile itself, in base64\n"
    "  -t                    test the profile, list what is not supported in it, and exit\n"
    "  --strict              nodes and groups that are not supported are errors\n"
    "  -ext-ctl ADDR         override external-controller\n"
    "  -ext-ctl-unix PATH    override external-controller-unix\n"
    "  -ext-ui DIR           override external-ui\n"
    "  -secret TEXT          override secret\n"
    "  -post-up COMMAND      for /bin/sh, once everything listens\n"
    "  -post-down COMMAND    for /bin/sh, when everything has stopped\n"
    "  -v                    print the version and exit\n"
    "  -h                    print this help\n"
    "keys prints every key a profile may have and what becomes of it; explain says which rule and\n"
    "which node a flow would take. Each option has mihomo's variable as well: CLASH_HOME_DIR,\n"
    "CLASH_CONFIG_FILE, CLASH_CONFIG_STRING, CLASH_OVERRIDE_EXTERNAL_CONTROLLER[_UNIX],\n"
    "CLASH_OVERRIDE_EXTERNAL_UI_DIR, CLASH_OVERRIDE_SECRET, CLASH_POST_UP, CLASH_POST_DOWN; paths\n"
    "in a profile stay in the home directory and those of SAFE_PATHS.\n"
    "Without a profile the built-in one is used: mixed port 127.0.0.1:7890, controller\n"
    "127.0.0.1:9090 with a generated secret, everything DIRECT.\n";

namespace {

struct Flag {
  std::string_view name;
  bool CommandLine::*member;
};
constexpr Flag kFlags[] = {{"t", &CommandLine::test},
                           {"v", &CommandLine::version},
                           {"h", &CommandLine::help},
                           {"help", &CommandLine::help},
                           {"strict", &CommandLine::strict}};

// An option with a value. `set` says what is wrong with one: empty when nothing is.
struct Option {
  std::string_view name;
  const char* variable;  // nullptr: none
  std::string (*set)(CommandLine& out, std::string&& value);
};

std::string set_config_text(CommandLine& out, std::string&& value) {
  if (value.empty()) return {};
  std::erase_if(value, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  auto text = wire::decode_base64(value);
  if (!text) return "option -config takes a profile in base64";
  out.config_text = *std::move(text);
  return {};
}

std::string set_pipe(CommandLine& out, std::string&& value) {
  if (!value.empty()) out.notes.emplace_back("-ext-ctl-pipe is for Windows: ignored");
  return {};
}

constexpr Option kOptions[] = {
    {"d", "CLASH_HOME_DIR",
     [](CommandLine& out, std::string&& value) {
       out.home = std::move(value);
       return std::string();
     }},
    {"f", "CLASH_CONFIG_FILE",
     [](CommandLine& out, std::string&& value) {
       out.config = std::move(value);
       return std::string();
     }},
    {"config", "CLASH_CONFIG_STRING", &set_config_text},
    {"ext-ctl", "CLASH_OVERRIDE_EXTERNAL_CONTROLLER",
     [](CommandLine& out, std::string&& value) {
       out.controller = std::move(value);
       return std::string();
     }},
    {"ext-ctl-unix", "CLASH_OVERRIDE_EXTERNAL_CONTROLLER_UNIX",
     [](CommandLine& out, std::string&& value) {
       out.controller_unix = std::move(value);
       return std::string();
     }},
    {"ext-ctl-pipe", "CLASH_OVERRIDE_EXTERNAL_CONTROLLER_PIPE", &set_pipe},
    {"ext-ui", "CLASH_OVERRIDE_EXTERNAL_UI_DIR",
     [](CommandLine& out, std::string&& value) {
       out.external_ui = std::move(value);
       return std::string();
     }},
    {"secret", "CLASH_OVERRIDE_SECRET",
     [](CommandLine& out, std::string&& value) {
       out.secret = std::move(value);
       return std::string();
     }},
    {"post-up", "CLASH_POST_UP",
     [](CommandLine& out, std::string&& value) {
       out.post_up = std::move(value);
       return std::string();
     }},
    {"post-down", "CLASH_POST_DOWN",
     [](CommandLine& out, std::string&& value) {
       out.post_down = std::move(value);
       return std::string();
     }},
};

std::string set_port(CommandLine& out, std::string&& value) {
  out.explain.port = parse_port(value);
  return out.explain.port ? "" : format("option --port is a port, not '{}'", value);
}

std::string set_network(CommandLine& out, std::string&& value) {
  if (value != "tcp" && value != "udp")
    return format("option --network is tcp or udp, not '{}'", value);
  out.explain.network = std::move(value);
  return {};
}

std::string set_source(CommandLine& out, std::string&& value) {
  if (!IpAddress::parse(value) && !Endpoint::parse(value)) {
    return format("option --source is an address, or address:port, not '{}'", value);
  }
  out.explain.source = std::move(value);
  return {};
}

constexpr Option kExplainOptions[] = {
    {"url", nullptr,
     [](CommandLine& out, std::string&& value) {
       out.explain.url = std::move(value);
       return std::string();
     }},
    {"host", nullptr,
     [](CommandLine& out, std::string&& value) {
       out.explain.host = std::move(value);
       return std::string();
     }},
    {"port", nullptr, &set_port},
    {"network", nullptr, &set_network},
    {"source", nullptr, &set_source},
    {"inbound", nullptr,
     [](CommandLine& out, std::string&& value) {
       out.explain.inbound = std::move(value);
       return std::string();
     }},
    {"user", nullptr,
     [](CommandLine& out, std::string&& value) {
       out.explain.user = std::move(value);
       return std::string();
     }},
};

// mihomo's options that this version cannot do what they say. Their values may be off.
struct Unsupported {
  std::string_view name;
  const char* variable;  // nullptr: none
  bool is_flag;
  std::string_view why;
};
constexpr Unsupported kUnsupported[] = {
    {"age-secret-key", "CLASH_AGE_SECRET_KEY", false, "profiles encrypted with age"},
    {"ext-ctl-tls", "CLASH_OVERRIDE_EXTERNAL_CONTROLLER_TLS", false, "a controller over TLS"},
    {"ext-ctl-routing-mark", "CLASH_OVERRIDE_EXTERNAL_CONTROLLER_ROUTING_MARK", false,
     "a routing mark of the controller"},
    {"m", nullptr, true, "geo data"},
};

class Parser {
 public:
  Parser(const std::vector<std::string>& args, std::string& message)
      : args_(args), message_(message) {}

  Result<CommandLine> run(const Environment& environment) {
    if (!args_.empty() && (args_[0] == "keys" || args_[0] == "explain")) {
      out_.subcommand = args_[0] == "keys" ? Subcommand::kKeys : Subcommand::kExplain;
      next_ = 1;
    }
    while (next_ < args_.size()) {
      if (const Status status = take(); !status.ok()) return status.error();
    }
    if (const Status status = take_environment(environment); !status.ok()) return status.error();
    if (out_.subcommand == Subcommand::kExplain && !out_.help && out_.explain.url.empty() &&
        out_.explain.host.empty()) {
      return invalid("explain needs --url or --host");
    }
    return std::move(out_);
  }

 private:
  Error invalid(std::string what) {
    message_ = std::move(what);
    return Error(Errc::kInvalid);
  }

  Status take() {
    std::string name = args_[next_++];
    if (name.size() < 2 || name[0] != '-') return invalid(format("unexpected argument '{}'", name));
    name.erase(0, name[1] == '-' ? 2 : 1);
    std::optional<std::string> value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (const auto flag = std::ranges::find(kFlags, name, &Flag::name); flag != std::end(kFlags)) {
      bool on = true;
      if (const Status status = read_flag(name, value, on); !status.ok()) return status;
      out_.*flag->member = on;
      return {};
    }
    if (const auto other = std::ranges::find(kUnsupported, name, &Unsupported::name);
        other != std::end(kUnsupported)) {
      return take_unsupported(*other, value);
    }
    const Option* option = find(kOptions, name);
    if (option == nullptr && out_.subcommand == Subcommand::kExplain) {
      option = find(kExplainOptions, name);
    }
    if (option == nullptr) return invalid(format("unknown option -{}", name));
    if (const Status status = read_value(name, value); !status.ok()) return status;
    given_.push_back(option->name);
    if (std::string wrong = option->set(out_, *std::move(value)); !wrong.empty()) {
      return invalid(std::move(wrong));
    }
    return {};
  }

  static const Option* find(std::span<const Option> options, std::string_view name) {
    const auto at = std::ranges::find(options, name, &Option::name);
    return at == options.end() ? nullptr : &*at;
  }

  Status read_flag(std::string_view name, const std::optional<std::string>& value, bool& on) {
    if (value && *value != "true" && *value != "false") {
      return invalid(format("option -{} is true or false, not '{}'", name, *value));
    }
    on = !value || *value == "true";
    return {};
  }

  Status read_value(std::string_view name, std::optional<std::string>& value) {
    if (value) return {};
    if (next_ == args_.size()) return invalid(format("option -{} needs a value", name));
    value = args_[next_++];
    return {};
  }

  Status take_unsupported(const Unsupported& option, std::optional<std::string>& value) {
    bool on = true;
    if (option.is_flag) {
      if (const Status status = read_flag(option.name, value, on); !status.ok()) return status;
    } else {
      if (const Status status = read_value(option.name, value); !status.ok()) return status;
      on = !value->empty() && *value != "0";
    }
    given_.push_back(option.name);
    return on ? refuse(format("-{}", option.name), option.why) : Status();
  }

  Status refuse(std::string name, std::string_view what) {
    message_ = format("{}: {}: not supported in this version", name, what);
    return Error(Errc::kUnsupported);
  }

  Status take_environment(const Environment& environment) {
    const auto is_given = [&](std::string_view name) {
      return std::ranges::find(given_, name) != given_.end();
    };
    for (const Option& option : kOptions) {
      // A file that was asked for counts before a text that was not.
      if (is_given(option.name) || (option.name == "config" && is_given("f"))) continue;
      auto value = environment(option.variable);
      if (!value) continue;
      if (std::string wrong = option.set(out_, *std::move(value)); !wrong.empty()) {
        return invalid(format("{}: {}", option.variable, wrong));
      }
    }
    for (const Unsupported& option : kUnsupported) {
      if (option.variable == nullptr || is_given(option.name)) continue;
      const auto value = environment(option.variable);
      if (value && *value != "0") return refuse(option.variable, option.why);
    }
    return {};
  }

  const std::vector<std::string>& args_;
  std::string& message_;
  size_t next_ = 0;
  CommandLine out_;
  std::vector<std::string_view> given_;
};

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& args,
                                       const Environment& environment, std::string& message) {
  return Parser(args, message).run(environment);
}

}  // namespace culvert::app
