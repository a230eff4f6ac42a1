"""Bar charts as SVG, readable on light and dark pages."""
import html

WIDTH, LABEL, ROW, TOP = 640, 150, 26, 44
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .caption { font-weight: 600; font-size: 14px }
  .own { fill: #0b7a75 } .other { fill: #a3acb5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .own { fill: #2fb8ae } .other { fill: #6e7781 }
  }
"""


def bars(caption, rows, own):
    """`rows`: (name, value, text), top to bottom; the row named `own` stands out."""
    most = max(value for _, value, _ in rows) or 1
    height = TOP + ROW * len(rows) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" role="img">',
           f"<title>{html.escape(caption)}</title>", f"<style>{STYLE}</style>",
           f'<text class="caption" x="8" y="24">{html.escape(caption)}</text>']
    for i, (name, value, text) in enumerate(rows):
        y = TOP + ROW * i
        length = max(2.0, (WIDTH - LABEL - 80) * value / most)
        out.append(f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end">{html.escape(name)}</text>')
        out.append(f'<rect class="{"own" if name == own else "other"}" x="{LABEL}" y="{y + 2}" '
                   f'width="{length:.1f}" height="{ROW - 8}" rx="2"/>')
        out.append(f'<text x="{LABEL + length + 6:.1f}" y="{y + 15}">{html.escape(text)}</text>')
    return "\n".join(out + ["</svg>", ""])
