"""Two small SVG charts of the simulated studies, written by hand."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from results.statistics.intervals import wilson_interval

_STYLE = (
    "<style>text{font:12px system-ui,sans-serif;fill:#444}.axis{stroke:#999}"
    ".bound{stroke:#b33;stroke-dasharray:4 3}.mark{stroke:#2b6cb0;fill:none;stroke-width:1.5}"
    ".dot{fill:#2b6cb0}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}.mark{stroke:#7ab8f5}.dot{fill:#7ab8f5}}"
    "</style>"
)


def draw_dots(rates: Sequence[tuple[str, int, int]]) -> str:
    """False holes in each null condition (name, studies with one, studies) with 95% intervals."""
    left, width, step, highest = 460, 300, 22, 0.08
    height = step * len(rates) + 50

    def x(share: float) -> float:
        return left + width * min(share, highest) / highest

    marks = [_line(x(0.05), 10, x(0.05), height - 35, "bound")]
    for percent in range(0, 9, 2):
        marks.append(_text(x(percent / 100), height - 15, f"{percent}%", "middle"))
    marks.append(_line(left, height - 35, left + width, height - 35, "axis"))
    for place, (name, hits, studies) in enumerate(rates):
        y = 22 + step * place
        interval = wilson_interval(hits, studies)
        assert interval is not None
        marks.append(_text(left - 10, y + 4, name, "end"))
        marks.append(_line(x(interval.low), y, x(interval.high), y, "mark"))
        marks.append(f'<circle class="dot" cx="{x(hits / studies):.1f}" cy="{y}" r="4"/>')
    title = "Share of studies with a false hole; the dashed line is the 5% bound"
    return _svg(left + width + 20, height, title, marks)


def draw_curves(shares: Sequence[float], power: Mapping[int, Sequence[float]]) -> str:
    """Power against the share of pairs in the hole, one curve for each class size."""
    left, top, width, height = 60, 20, 480, 280

    def x(share: float) -> float:
        return left + width * share / max(shares)

    def y(value: float) -> float:
        return top + height * (1 - value)

    marks = [
        _line(left, y(0), left + width, y(0), "axis"),
        _line(left, y(0), left, y(1), "axis"),
        _line(left, y(0.8), left + width, y(0.8), "bound"),
    ]
    marks += [_text(x(share), y(0) + 18, f"{share:.0%}", "middle") for share in shares]
    marks += [_text(left - 8, y(v) + 4, f"{v:.0%}", "end") for v in (0, 0.2, 0.4, 0.6, 0.8, 1)]
    marks.append(_text(left + width / 2, y(0) + 38, "pairs of the class in the hole", "middle"))
    for place, (size, values) in enumerate(power.items()):
        points = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in zip(shares, values, strict=True))
        shade = 1 - 0.75 * place / max(len(power) - 1, 1)
        marks.append(
            f'<polyline class="mark" style="opacity:{1.25 - shade:.2f}" points="{points}"/>'
        )
        # Labels stand where the curves are apart, one above the other.
        label = min(range(len(values)), key=lambda i, v=values: abs(v[i] - 0.45))
        marks.append(_text(x(shares[label]) + 6, y(values[label]) + 4, str(size), "start"))
    title = "Power by class size (pairs); the dashed line is 80%"
    return _svg(left + width + 30, top + height + 50, title, marks)


def _svg(width: float, height: float, title: str, marks: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", _STYLE, *marks, "</svg>\n"])


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
