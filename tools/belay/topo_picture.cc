#include "topo_picture.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <vector>

namespace belay::tool {

namespace {

using machine::LinkKind;
using machine::LinkRule;

constexpr double kWidth = 390;
constexpr double kMargin = 14;
constexpr double kInner = kWidth - 2 * kMargin;
constexpr double kText = 12;
constexpr double kTitle = 16;
// The advance of a monospaced letter; the widest common font has 0.602.
constexpr double kAdvance = 0.61;
constexpr double kLine = 17;
constexpr int kRowDevices = 16;

constexpr const char* kInk = "#1f2328";
constexpr const char* kPale = "#d0d7de";

struct Look {
  LinkKind kind;
  const char* title;
  const char* code;
  const char* color;
  const char* dark;  // of further rules of the kind, such as the switches of a card and of a server
};

// Each color has a contrast of 4.5 to white, which stands on it.
constexpr Look kLooks[] = {
    {LinkKind::kHccs, "HCCS", "HCCS", "#0a58ca", "#063578"},
    {LinkKind::kHccsSwitch, "HCCS switch", "HCSW", "#6f3fc0", "#43267a"},
    {LinkKind::kSio, "SIO", "SIO", "#11703a", "#0b4a26"},
    {LinkKind::kPcieSwitch, "PCIe switch", "PIX", "#8a5700", "#573700"},
    {LinkKind::kHostBridge, "PCIe host bridge", "PHB", "#57606a", "#343a40"},
    {LinkKind::kSystem, "system bus", "SYS", "#a8400b", "#6b2907"},
};

const Look& LookOf(LinkKind kind) {
  for (const Look& look : kLooks) {
    if (look.kind == kind) return look;
  }
  return kLooks[std::size(kLooks) - 1];
}

double TextWidth(size_t letters, double size) {
  return static_cast<double>(letters) * kAdvance * size;
}

size_t LettersIn(double width, double size) {
  return static_cast<size_t>(width / (kAdvance * size));
}

// A piece of UTF-8 text and the columns that it takes.
struct Letter {
  std::string bytes;
  size_t columns;
};

// What XML 1.0 cannot carry becomes '?'.
std::vector<Letter> Letters(std::string_view text) {
  std::vector<Letter> letters;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    std::string bytes(text.substr(at, size));
    at += size;
    if (first < 0x20 || first == 0x7F || bytes == "\xEF\xBF\xBE" || bytes == "\xEF\xBF\xBF") bytes = "?";
    if (bytes == "&") bytes = "&amp;";
    if (bytes == "<") bytes = "&lt;";
    if (bytes == ">") bytes = "&gt;";
    // East Asian letters take two columns; so do, to be safe, all that are not Latin, Greek or Cyrillic.
    letters.push_back({std::move(bytes), size >= 3 ? size_t{2} : size_t{1}});
  }
  return letters;
}

std::string Escaped(std::string_view text) {
  std::string all;
  for (const Letter& letter : Letters(text)) all += letter.bytes;
  return all;
}

// Escaped lines of at most `columns`; a word that is longer than a line is cut.
std::vector<std::string> Wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  std::string line, word;
  size_t line_columns = 0, word_columns = 0;
  auto end_line = [&] {
    if (!line.empty()) lines.push_back(std::move(line));
    line.clear();
    line_columns = 0;
  };
  auto end_word = [&] {
    if (word.empty()) return;
    if (line_columns != 0 && line_columns + 1 + word_columns > columns) end_line();
    if (line_columns != 0) {
      line += ' ';
      ++line_columns;
    }
    line += word;
    line_columns += word_columns;
    word.clear();
    word_columns = 0;
  };
  for (const Letter& letter : Letters(text)) {
    if (letter.bytes == " ") {
      end_word();
      continue;
    }
    if (word_columns + letter.columns > columns) {
      end_word();
      end_line();
    }
    word += letter.bytes;
    word_columns += letter.columns;
  }
  end_word();
  end_line();
  return lines;
}

// Where a unit, a device or a bar, hangs: the next bar below is joined to it there.
struct Unit {
  int first = 0;  // device
  double x = 0;
  double bottom = 0;
};

class Picture {
 public:
  explicit Picture(const machine::Machine& machine)
      : machine_(machine), rules_(machine.product().links), devices_(FirstNodeDevices(machine)) {
    columns_ = std::min(devices_, kRowDevices);
    // A row of whole groups keeps every group that fits in one row in one piece.
    for (const LinkRule& rule : rules_) {
      if (!rule.crosswise && devices_ > kRowDevices && rule.group <= kRowDevices)
        columns_ = kRowDevices - kRowDevices % rule.group;
    }
    cell_ = std::min(44.0, kInner / columns_);
    left_ = (kWidth - cell_ * columns_) / 2;
  }

  std::string Draw() {
    y_ = kMargin + kTitle;
    for (const std::string& line : Wrapped(machine_.product().name, LettersIn(kInner, kTitle))) {
      Text(kMargin, y_, kTitle, "start", kInk, line);
      y_ += kTitle + 4;
    }
    Paragraph(kMargin, machine_.product().title);
    y_ += 2;
    for (int first = 0; first < devices_; first += columns_) DrawRow(first);
    DrawPairs();
    DrawLegend();
    return Wrap();
  }

 private:
  [[gnu::format(printf, 2, 3)]] void Put(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char piece[400];
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    body_ += piece;
  }

  // `escaped` is any length, so it does not go through Put.
  void Text(double x, double y, double size, const char* anchor, const char* color,
            const std::string& escaped) {
    if (escaped.empty()) return;
    Put("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, size, anchor,
        color, size > kText ? " font-weight=\"bold\"" : "");
    body_ += escaped + "</text>\n";
  }

  void Paragraph(double x, std::string_view text) {
    for (const std::string& line : Wrapped(text, LettersIn(kWidth - kMargin - x, kText))) {
      Text(x, y_, kText, "start", kInk, line);
      y_ += kLine;
    }
  }

  void Box(double x, double y, double width, double height, const char* color, bool filled) {
    Put("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\" fill=\"%s\" stroke=\"%s\"%s/>\n",
        x, y, width, height, filled ? color : "#ffffff", color, filled ? "" : " stroke-dasharray=\"4 3\"");
  }

  // The first rule of a kind has the bright color. The pairs come with copies of the rules, so groups are
  // compared.
  const char* ColorOf(const LinkRule& rule) const {
    const Look& look = LookOf(rule.kind);
    for (const LinkRule& first : rules_) {
      if (first.kind != rule.kind) continue;
      return first.group == rule.group && first.crosswise == rule.crosswise ? look.color : look.dark;
    }
    return look.color;
  }

  double CenterOf(int column) const { return left_ + cell_ * (column + 0.5); }

  void DrawRow(int first) {
    const int count = std::min(columns_, devices_ - first);
    std::vector<Unit> units;
    const double height = 28;
    for (int i = 0; i < count; ++i) {
      body_ += "<g class=\"box\">";
      Put("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\" fill=\"#f6f8fa\" "
          "stroke=\"%s\"/>",
          left_ + cell_ * i + 1.5, y_, cell_ - 3, height, kInk);
      Text(CenterOf(i), y_ + 18.5, kText, "middle", kInk, std::to_string(first + i));
      body_ += "</g>\n";
      units.push_back({first + i, CenterOf(i), y_ + height});
    }
    y_ += height;
    for (const LinkRule& rule : rules_) {
      if (!rule.crosswise) units = DrawBars(rule, units, first, count);
    }
    y_ += 22;
  }

  // One bar for each group of the row that joins two units or more; what is not joined hangs on.
  std::vector<Unit> DrawBars(const LinkRule& rule, const std::vector<Unit>& units, int first, int count) {
    const double height = 38, gap = 12;
    std::vector<Unit> joined;
    bool drawn = false;
    for (size_t at = 0; at < units.size();) {
      size_t end = at;
      while (end < units.size() && units[end].first / rule.group == units[at].first / rule.group) ++end;
      const int group = units[at].first / rule.group;
      // A group goes on in the next or the previous row: its piece here is one, even with a single unit.
      const bool goes_on =
          group * rule.group < first || std::min((group + 1) * rule.group, devices_) > first + count;
      if (end - at < 2 && !goes_on) {
        joined.push_back(units[at]);
        at = end;
        continue;
      }
      const int from = std::max(units[at].first, first) - first;
      const int to = std::min({(group + 1) * rule.group, devices_, first + count}) - first;
      for (size_t i = at; i < end; ++i) {
        Put("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n",
            units[i].x, units[i].bottom, units[i].x, y_ + gap, ColorOf(rule),
            rule.peer ? "" : " stroke-dasharray=\"4 3\"");
      }
      DrawBar(rule, left_ + cell_ * from + 1.5, y_ + gap, cell_ * (to - from) - 3, height);
      joined.push_back({units[at].first, left_ + cell_ * (from + to) / 2, y_ + gap + height});
      drawn = true;
      at = end;
    }
    if (drawn) y_ += gap + height;
    return joined;
  }

  void DrawBar(const LinkRule& rule, double x, double y, double width, double height) {
    const Look& look = LookOf(rule.kind);
    const char* ink = rule.peer ? "#ffffff" : kInk;
    const std::string bandwidth = NumberText(rule.bandwidth_gbps.value);
    const std::string unit = bandwidth + " GB/s";
    body_ += "<g class=\"box\">";
    Box(x, y, width, height, ColorOf(rule), rule.peer);
    Text(x + width / 2, y + 16, kText, "middle", ink, Fitting({look.title, look.code}, width));
    Text(x + width / 2, y + 31, kText, "middle", ink,
         Fitting({unit + (rule.peer ? ", peer access" : ", no peer access"), unit, bandwidth}, width));
    body_ += "</g>\n";
  }

  // The first text that fits, else none: the legend has them all.
  static std::string Fitting(std::initializer_list<std::string> texts, double width) {
    for (const std::string& text : texts) {
      if (TextWidth(text.size(), kText) <= width - 2) return text;
    }
    return "";
  }

  // One square for each pair, where there is room for their numbers.
  void DrawPairs() {
    if (devices_ < 2 || devices_ > kRowDevices) return;
    Text(kMargin, y_, kText, "start", kInk, "Each pair of devices:");
    y_ += 8;
    const double side = std::min(22.0, (kInner - 24) / devices_);
    const double left = (kWidth - 24 - side * devices_) / 2 + 24;
    for (int i = 0; i < devices_; ++i) {
      Text(left + side * (i + 0.5), y_ + 12, kText, "middle", kInk, std::to_string(i));
      Text(left - 5, y_ + 18 + side * (i + 0.5) + 4, kText, "end", kInk, std::to_string(i));
    }
    y_ += 18;
    for (int a = 0; a < devices_; ++a) {
      for (int b = 0; b < devices_; ++b) DrawPair(a, b, left + side * b, y_ + side * a, side);
    }
    y_ += side * devices_ + 24;
  }

  void DrawPair(int a, int b, double x, double y, double side) {
    const LinkRule* rule = machine_.links().Rule(a, b);
    const char* color = a == b ? kPale : rule != nullptr ? ColorOf(*rule) : kPale;
    const bool filled = a == b || (rule != nullptr && rule->peer);
    Put("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x + 1,
        y + 1, side - 2, side - 2, filled ? color : "#ffffff", color);
    if (!filled && rule != nullptr) Cross(x + 5, y + 5, side - 10, side - 10, color);
  }

  void Cross(double x, double y, double width, double height, const char* color) {
    Put("<path d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\" stroke=\"%s\" stroke-width=\"1.5\" "
        "fill=\"none\"/>\n",
        x, y, width, height, -height, -width, height, color);
  }

  void DrawLegend() {
    Text(kMargin, y_, kText, "start", kInk, "Legend");
    y_ += kLine + 2;
    Put("<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"12\" rx=\"3\" fill=\"#f6f8fa\" stroke=\"%s\"/>\n",
        kMargin, y_ - 10, kInk);
    Paragraph(kMargin + 24, "a numbered box is a device");
    for (const LinkRule& rule : rules_) {
      const char* color = ColorOf(rule);
      Box(kMargin, y_ - 10, 16, 12, color, rule.peer);
      if (!rule.peer) Cross(kMargin + 5, y_ - 7, 6, 6, color);
      Paragraph(kMargin + 24, RuleText(rule));
    }
    if (rules_.empty()) Paragraph(kMargin, "The devices have no links and no peer access.");
    y_ += 4;
    Paragraph(kMargin,
              "GB/s: 10^9 bytes a second in one direction. us: microseconds before the first byte. Measured: "
              "seen on hardware; doc: vendor documentation; assumed: nobody published it.");
    if (devices_ > columns_) Paragraph(kMargin, "Bars of one group in several rows are one link.");
    const int per_node = machine_.links().devices_per_node();
    if (machine_.device_count() > per_node) {
      Paragraph(kMargin, "The machine has " + std::to_string(machine_.device_count()) +
                             " devices: copies of this node of " + std::to_string(per_node) +
                             ", with no link between them.");
    }
  }

  static std::string RuleText(const LinkRule& rule) {
    auto number = [](const machine::Marked<double>& value, const char* unit) {
      if (value.value == 0) return std::string("unknown ") + unit;
      return NumberText(value.value) + " " + unit + " (" + machine::MarkName(value.mark) + ")";
    };
    const Look& look = LookOf(rule.kind);
    std::string text = look.title;
    if (text != look.code) text += std::string(" (") + look.code + ")";
    text += rule.crosswise ? ", same place in groups of " : ", groups of ";
    text += std::to_string(rule.group) + ": " + number(rule.bandwidth_gbps, "GB/s") + ", " +
            number(rule.latency_us, "us");
    return text + (rule.peer ? ", peer access" : ", no peer access");
  }

  std::string Wrap() {
    char head[400];
    snprintf(head, sizeof head,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %.0f\" width=\"100%%\" role=\"img\" "
             "style=\"display: block; max-width: 780px; margin: 0 auto\" "
             "font-family=\"'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace\">\n",
             kWidth, y_);
    return head +
           ("<title>" + Escaped(machine_.product().name) +
            "</title>\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"#ffffff\"/>\n") +
           body_ + "</svg>\n";
  }

  const machine::Machine& machine_;
  const std::vector<LinkRule>& rules_;
  const int devices_;
  int columns_ = 1;
  double cell_ = 0;
  double left_ = 0;
  double y_ = 0;
  std::string body_;
};

}  // namespace

const char* LinkTitle(LinkKind kind) {
  return LookOf(kind).title;
}

const char* LinkCode(LinkKind kind) {
  return LookOf(kind).code;
}

std::string NumberText(double value) {
  if (value == 0) return "?";
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  return text;
}

int FirstNodeDevices(const machine::Machine& machine) {
  return std::min(machine.device_count(), machine.links().devices_per_node());
}

std::string TopologySvg(const machine::Machine& machine) {
  return Picture(machine).Draw();
}

}  // namespace belay::tool
