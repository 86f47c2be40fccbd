"""Plots of kept results as SVG, for pages: draw(plot) is the text of a file, the same for the same numbers."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 90, 220, 34, 74
COLORS = ["#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bc4c00", "#57606a", "#0550ae", "#d4a72c", "#116329",
          "#953800", "#6639ba"]
DASHES = ["", "6 3", "2 2"]


def good(value, log):
    return value is not None and math.isfinite(value) and (value > 0 or not log)


class Axis:
    """Logarithmic where all is positive and the largest is more than 30 times the least."""

    def __init__(self, values, low, high):
        values = [value for value in values if good(value, False)] or [0.0, 1.0]
        positive = [value for value in values if value > 0]
        self.log = len(positive) > 0.8 * len(values) and max(positive) > 30 * min(positive)
        used = positive if self.log else values
        self.least, self.most, self.low, self.high = min(used), max(used), low, high
        if self.log:
            self.least, self.most = math.log10(self.least), math.log10(self.most)
        elif self.least >= 0:
            self.least = 0.0
        if self.most - self.least < 1e-12:
            self.most = self.least + 1

    def at(self, value):
        value = math.log10(value) if self.log else value
        return self.low + (self.high - self.low) * (value - self.least) / (self.most - self.least)

    def ticks(self):
        if self.log:
            first, last = math.ceil(self.least - 1e-9), math.floor(self.most + 1e-9)
            step = max(1, math.ceil((last - first) / 8))
            marks = [10.0 ** power for power in range(first, last + 1, step)]
            return marks if len(marks) > 1 else [10 ** self.least, 10 ** self.most]
        size = 10 ** math.floor(math.log10((self.most - self.least) / 4))
        step = next(size * k for k in (1, 2, 5, 10) if (self.most - self.least) / (size * k) <= 6)
        first = math.ceil(self.least / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.most / step + 1e-9) + 1)]


def label(value):
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}"
    return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(str(words))}</text>'


def frame(plot, axes, out):
    x, y = axes
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out.append(f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#8c959f"/>')
    out.append(text((LEFT + right) / 2, 20, plot["title"], extra=' font-weight="bold"'))
    out.append(text(16, (TOP + bottom) / 2, plot["y"], extra=f' transform="rotate(-90 16 {(TOP + bottom) / 2:.1f})"'))
    for value in y.ticks():
        at = y.at(value)
        out.append(f'<path d="M{LEFT} {at:.1f}H{right}" stroke="#d0d7de"/>')
        out.append(text(LEFT - 6, at + 4, label(value), "end"))
    if x is not None:
        out.append(text((LEFT + right) / 2, HEIGHT - 32, plot["x"]))
        for value in x.ticks():
            out.append(f'<path d="M{x.at(value):.1f} {TOP}V{bottom}" stroke="#d0d7de"/>')
            out.append(text(x.at(value), bottom + 16, label(value)))


def legend(series, out):
    for i, one in enumerate(series):
        at = TOP + 8 + 18 * i
        out.append(f'<path d="M{WIDTH - RIGHT + 12} {at}h20" stroke="{COLORS[i % len(COLORS)]}" stroke-width="3" '
                   f'stroke-dasharray="{DASHES[i // len(COLORS) % 3]}"/>')
        out.append(text(WIDTH - RIGHT + 38, at + 4, one["name"], "start"))


def lines(plot, axes, out):
    x, y = axes
    for i, one in enumerate(plot["series"]):
        pieces, drawing = [], False
        for a, b in zip(one["x"], one["y"]):
            if not good(a, x.log) or not good(b, y.log):
                drawing = False
                continue
            pieces.append(f"{'L' if drawing else 'M'}{x.at(a):.1f} {y.at(b):.1f}")
            drawing = True
        out.append(f'<path d="{"".join(pieces)}" fill="none" stroke="{COLORS[i % len(COLORS)]}" stroke-width="2" '
                   f'stroke-dasharray="{DASHES[i // len(COLORS) % 3]}"/>')


def bars(plot, y, out):
    count, groups = len(plot["series"]), plot["groups"]
    place = (WIDTH - RIGHT - LEFT) / len(groups)
    width = 0.84 * place / count
    for g, name in enumerate(groups):
        middle = LEFT + place * (g + 0.5)
        turn = f' transform="rotate(-20 {middle:.1f} {HEIGHT - BOTTOM + 14})"' if len(groups) > 5 else ""
        out.append(text(middle + (6 if turn else 0), HEIGHT - BOTTOM + 14, name, "end" if turn else "middle", turn))
    for i, one in enumerate(plot["series"]):
        for a, b in zip(one["x"], one["y"]):
            if good(b, y.log):
                left, top = LEFT + place * (a + 0.08) + width * i, y.at(b)
                out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
                           f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{COLORS[i % len(COLORS)]}"/>')


def draw(plot):
    values = [value for one in plot["series"] for value in one["y"]]
    y = Axis(values, HEIGHT - BOTTOM, TOP)
    grouped = bool(plot["groups"])
    if grouped and y.log:
        y.least -= 0.3  # the least bar is seen, too
    x = None if grouped else Axis([v for one in plot["series"] for v in one["x"]], LEFT, WIDTH - RIGHT)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12" fill="#1f2328">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    frame(plot, (x, y), out)
    bars(plot, y, out) if grouped else lines(plot, (x, y), out)
    legend(plot["series"], out)
    return "\n".join([*out, "</svg>"]) + "\n"
