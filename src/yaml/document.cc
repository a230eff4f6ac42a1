#include "yaml/document.h"

#include <libfyaml.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "yaml/block_scalar.h"
#include "yaml/builder.h"
#include "yaml/flow_scalar.h"
#include "yaml/scan.h"

namespace culvert::yaml {
namespace {

void discard_output(fy_diag*, void*, const char*, size_t) {}

std::string_view text_of(fy_token* token) {
  if (token == nullptr) return {};
  size_t size = 0;
  const char* text = fy_token_get_text(token, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

// The end of a token in the text.
size_t end_of(fy_token* token) {
  const fy_mark* mark = token == nullptr ? nullptr : fy_token_end_mark(token);
  return mark == nullptr ? 0 : mark->input_pos;
}

bool is_string_tag(std::string_view tag) {
  return tag == "!" || tag == "str" || tag == "!!str" || tag == "tag:yaml.org,2002:str";
}

// One libfyaml parser over one text.
class EventParser {
 public:
  explicit EventParser(std::string_view text) : text_(text) {
    fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = nullptr;
    diag_cfg.output_fn = discard_output;
    diag_ = fy_diag_create(&diag_cfg);
    if (diag_ == nullptr) return;
    fy_diag_set_collect_errors(diag_, true);
    fy_parse_cfg cfg{};
    // Sloppy: a closing bracket may stand left of its opening line, as mihomo's reader takes it.
    // The depth is limited by Builder, so libfyaml's own limit, which varies, is switched off.
    cfg.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_SLOPPY_FLOW_INDENTATION |
                                                FYPCF_DISABLE_DEPTH_LIMIT | FYPCF_JSON_NONE);
    cfg.diag = diag_;
    parser_ = fy_parser_create(&cfg);
    ready_ = parser_ != nullptr && fy_parser_set_string(parser_, text.data(), text.size()) == 0;
  }
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser() {
    if (parser_ != nullptr) fy_parser_destroy(parser_);
    if (diag_ != nullptr) fy_diag_destroy(diag_);
  }

  // Feeds one document to `builder`; every failure is in its diagnostics.
  void run(Builder& builder, Arena& arena) {
    bool go_on = ready_;
    while (go_on) {
      fy_event* event = fy_parser_parse(parser_);
      if (event == nullptr) break;
      go_on = take(*event, builder, arena);
      fy_parser_event_free(parser_, event);
    }
    if (builder.ok() && (!ready_ || !ended_)) report(builder);
  }

 private:
  bool take(fy_event& event, Builder& builder, Arena& arena) {
    Position at = last_;
    if (const fy_mark* mark = fy_event_start_mark(&event)) at = position_of(*mark);
    bool go_on = true;
    switch (event.type) {
      case FYET_STREAM_END:
        ended_ = true;
        return false;
      case FYET_DOCUMENT_START:
        if (std::exchange(started_, true)) {
          builder.error(at, "a second document; only one is read");
          return false;
        }
        break;
      case FYET_SCALAR:
        go_on = take_scalar(event, at, builder, arena);
        break;
      case FYET_SEQUENCE_START:
        go_on = builder.begin(Kind::kSequence, text_of(event.sequence_start.anchor), at);
        break;
      case FYET_MAPPING_START:
        go_on = builder.begin(Kind::kMapping, text_of(event.mapping_start.anchor), at);
        break;
      case FYET_SEQUENCE_END:
      case FYET_MAPPING_END:
        return builder.end();
      case FYET_ALIAS: {
        if (at.column > 1) --at.column;  // the mark is behind the asterisk
        go_on = builder.alias(text_of(event.alias.anchor), at);
        break;
      }
      default:
        return true;
    }
    last_ = at;
    return go_on;
  }

  bool take_scalar(fy_event& event, Position& at, Builder& builder, Arena& arena) {
    fy_token* token = event.scalar.value;
    const std::string_view anchor = text_of(event.scalar.anchor);
    const std::string_view tag = text_of(event.scalar.tag);
    if (token == nullptr) {
      at = builder.empty_position(at);
      return builder.scalar({}, !is_string_tag(tag), anchor, at);
    }
    if (tag == "tag:yaml.org,2002:binary" || tag == "!!binary") {
      builder.error(at, "a binary value; values are text");
      return false;
    }
    const fy_scalar_style style = fy_token_scalar_style(token);
    const bool in_quotes = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    if (in_quotes && at.column > 1) --at.column;  // the mark is behind the opening quote
    const fy_mark* from = fy_token_start_mark(token);
    const fy_mark* to = fy_token_end_mark(token);
    std::optional<std::string_view> text;
    if (from != nullptr && to != nullptr && from->input_pos <= to->input_pos &&
        to->input_pos <= text_.size()) {
      const std::string_view raw = text_.substr(from->input_pos, to->input_pos - from->input_pos);
      if (style == FYSS_LITERAL || style == FYSS_FOLDED) {
        const size_t properties = std::max(end_of(event.scalar.anchor), end_of(event.scalar.tag));
        text = block_text(raw, std::max(last_end_, properties), builder.block_indent(), arena);
      } else {
        text = flow_text(raw, style, arena);
      }
      last_end_ = to->input_pos;
    }
    if (!text) {
      builder.error(at, "not valid YAML: a scalar with an escape or form that has no meaning");
      return false;
    }
    const bool plain = style == FYSS_PLAIN && !is_string_tag(tag);
    return builder.scalar(*text, plain, anchor, at);
  }

  // The scalar where it stands in the file, or a copy when it reads otherwise there.
  std::optional<std::string_view> flow_text(std::string_view raw, fy_scalar_style style,
                                            Arena& arena) {
    const FlowStyle flow = style == FYSS_SINGLE_QUOTED   ? FlowStyle::kSingleQuoted
                           : style == FYSS_DOUBLE_QUOTED ? FlowStyle::kDoubleQuoted
                                                         : FlowStyle::kPlain;
    if (is_literal(raw, flow)) return raw;
    if (!decode_flow_scalar(raw, flow, scratch_)) return std::nullopt;
    return arena.copy(scratch_);
  }

  // `header_from`: the header stands behind it, on the line before `raw`.
  std::optional<std::string_view> block_text(std::string_view raw, size_t header_from,
                                             uint32_t parent_indent, Arena& arena) {
    std::string_view before = text_.substr(0, static_cast<size_t>(raw.data() - text_.data()));
    if (before.ends_with('\n')) before.remove_suffix(1);
    if (before.ends_with('\r')) before.remove_suffix(1);
    const size_t line = before.find_last_of("\n\r") + 1;  // npos + 1 is 0
    header_from = std::max(header_from, line);
    if (header_from > before.size()) return std::nullopt;
    const auto header = parse_block_header(before.substr(header_from));
    if (!header) return std::nullopt;
    decode_block_scalar(raw, *header, parent_indent, scratch_);
    return arena.copy(scratch_);
  }

  void report(Builder& builder) {
    void* previous = nullptr;
    if (diag_ != nullptr) {
      while (const fy_diag_error* e = fy_diag_errors_iterate(diag_, &previous)) {
        if (e->type < FYET_ERROR || e->msg == nullptr) continue;
        const Position at{e->line > 0 ? static_cast<uint32_t>(e->line) : 1,
                          e->column > 0 ? static_cast<uint32_t>(e->column) : 1};
        // Only the first: the others follow from it.
        builder.error(at, format("not valid YAML: {}", log::printable(e->msg)));
        return;
      }
    }
    builder.error(last_, "not valid YAML here or below");
  }

  static Position position_of(const fy_mark& mark) {
    return {static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
  }

  std::string_view text_;
  std::string scratch_;
  size_t last_end_ = 0;  // of the scalar before
  fy_diag* diag_ = nullptr;
  fy_parser* parser_ = nullptr;
  Position last_;
  bool ready_ = false;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace

std::optional<Document> parse(std::string source, std::string text, Diagnostics& out,
                              const Limits& limits, const Stream* stream) {
  if (text.size() > limits.text_bytes) {
    out.add({Severity::kError,
             std::move(source),
             0,
             0,
             {},
             format("{} bytes", text.size()),
             format("at most {}", limits.text_bytes)});
    return std::nullopt;
  }
  Document document;
  document.source_ = std::move(source);
  document.text_ = std::make_unique<const std::string>(std::move(text));
  const Scan scanned = scan(*document.text_);
  Builder builder(document.source_, document.arena_, out, limits, stream);
  if (scanned.fault) {
    builder.error({scanned.fault->line, scanned.fault->column}, std::string(scanned.fault->what));
    return std::nullopt;
  }
  EventParser(scanned.body).run(builder, document.arena_);
  if (!builder.ok()) return std::nullopt;
  document.root_ = builder.root();
  if (document.root_ == nullptr) {
    document.root_ = document.arena_.make<Node>(Kind::kNull, std::string_view(), true, 1u, 1u);
  }
  return document;
}

}  // namespace culvert::yaml
