"""A scene as SVG: one element for each thing on the board, and no outside reference.

A square is 100 by 100. The elements of pieces, chakras, holes, links and marks have `data-kind`
and `data-square`, so that a program or page finds them.
"""

import hashlib
from math import hypot
from xml.etree import ElementTree as ET

from core.explanation import BLACK, SIDE_NAMES, WHITE
from core.notation import format_square
from core.picture.arrows import draw_arrow, find_arrows
from core.picture.scene import Item, Link, Scene, find_move_squares
from core.picture.themes import THEMES

_SQUARE = 100
_MARGIN = 44
_STRIP = 64
# Of what a picture measures, so much is its size on a page unless the page says otherwise.
_SCALE = 0.5
_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Helvetica, Arial, sans-serif"

_Attributes = dict[str, str | float]


def draw_svg(scene: Scene, *, is_flipped: bool = False, theme: str = "light") -> str:
    """Return the picture of a scene, the same for the same scene; ValueError for other themes."""
    if theme not in THEMES:
        raise ValueError(f"theme {theme!r} is none of {', '.join(THEMES)}")
    return _Drawing(scene, is_flipped, theme).draw()


class _Drawing:
    """One picture while it is drawn, layer by layer."""

    def __init__(self, scene: Scene, is_flipped: bool, theme: str) -> None:
        self.scene, self.board, self.is_flipped = scene, scene.board, is_flipped
        self.colours = THEMES[theme]
        # A page may hold many pictures, and no two elements of it may have the same id.
        seen = (scene.variant, scene.fen, scene.status, scene.last_move, scene.line)
        digest = hashlib.sha256(repr((*seen, is_flipped, theme)).encode())
        self.prefix = f"t{digest.hexdigest()[:10]}-"
        self.side_length = self.board.width * _SQUARE
        self.root = self._make_root()

    def draw(self) -> str:
        """Return the text of the whole picture."""
        self._draw_words()
        self._draw_definitions()
        self._draw_frame()
        squares = self._add(self.root, "g", transform=f"translate({_MARGIN} {_MARGIN + _STRIP})")
        self._draw_squares(squares)
        self._draw_marks(squares)
        self._draw_pieces(squares)
        self._draw_link_labels(squares)
        self._draw_line(squares)
        ET.indent(self.root, "")
        return ET.tostring(self.root, encoding="unicode") + "\n"

    def _make_root(self) -> ET.Element:
        width, height = self.side_length + 2 * _MARGIN, self.side_length + 2 * (_MARGIN + _STRIP)
        return ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "width": f"{width * _SCALE:.0f}",
                "height": f"{height * _SCALE:.0f}",
                "role": "img",
                "aria-labelledby": f"{self.prefix}title {self.prefix}desc",
                "font-family": _FONT,
            },
        )

    def _draw_words(self) -> None:
        """Say what the picture shows, for those who do not see it."""
        scene, board = self.scene, self.board
        self._add(self.root, "title", f"{scene.variant}: {scene.status}", id=f"{self.prefix}title")
        sentences = [
            f"{name}: {', '.join(_name_items(side, board.pieces + board.marks))}"
            for side, name in SIDE_NAMES.items()
        ]
        if board.holes:
            sentences.append(f"holes: {', '.join(format_square(h.square) for h in board.holes)}")
        text = "; ".join([*sentences, *scene.notes])
        self._add(self.root, "desc", f"{text}. {scene.fen}", id=f"{self.prefix}desc")

    def _draw_definitions(self) -> None:
        """Define the drawings that this picture uses."""
        board = self.board
        names = {item.drawing for item in board.pieces + board.marks + board.holes}
        names |= {drawing for reserve in board.reserves.values() for drawing, _ in reserve}
        definitions = self._add(self.root, "defs")
        for name, text in board.art.drawings.items():
            if name in names | {"light", "dark"}:
                inside = text.format_map(self.colours)
                definitions.append(ET.fromstring(f'<g id="{self.prefix}{name}">{inside}</g>'))

    def _draw_frame(self) -> None:
        """Draw what surrounds the board: coordinates, the sides, what their pawns may become."""
        length, far = self.side_length, self.side_length + _MARGIN + _STRIP
        self._add(self.root, "rect", width="100%", height="100%", rx=16, fill=self.colours["frame"])
        words = self._add(self.root, "g", fill=self.colours["text"], font_size=24)
        middle: _Attributes = {"text_anchor": "middle", "data_kind": "coordinate"}
        for square in range(self.board.width):
            x, y = self._find_corner(9 * square)
            name = format_square(9 * square)
            for at in (_STRIP + _MARGIN - 14, far + 29):
                self._add(words, "text", name[0], x=x + _MARGIN + 50, y=at, **middle)
            for at in (_MARGIN // 2, length + _MARGIN * 3 // 2):
                self._add(words, "text", name[1], x=at, y=y + _MARGIN + _STRIP + 58, **middle)
        top, bottom = (WHITE, BLACK) if self.is_flipped else (BLACK, WHITE)
        self._draw_strip(words, top, 18)
        self._draw_strip(words, bottom, far + _MARGIN - 8)

    def _draw_strip(self, words: ET.Element, side: str, top: int) -> None:
        """Draw a side's name, whether it is to move, and at the right end its reserve."""
        name, is_to_move = SIDE_NAMES[side], side == self.board.side
        paint = self._find_paint(side)
        disc = self._add(words, "circle", cx=_MARGIN + 14, cy=top + 26, r=13, stroke_width=3)
        disc.attrib.update(fill=str(paint["fill"]), stroke=self.colours["text"])
        weight: _Attributes = {"font_weight": 700} if is_to_move else {}
        text = self.scene.status if is_to_move else name
        self._add(words, "text", text, x=_MARGIN + 38, y=top + 34, **weight)
        reserve = self.board.reserves.get(side, [])
        if not reserve:
            return
        x = self.side_length + _MARGIN - 44 * len(reserve)
        self._add(words, "text", "promotes to", x=x - 8, y=top + 34, text_anchor="end")
        group = self._add(words, "g", stroke_width=4, stroke_linejoin="round", **paint)
        for drawing, piece in reserve:
            place = f"translate({x} {top + 2}) scale(.48)"
            kind: _Attributes = {"data_kind": "reserve", "transform": place}
            self._use(group, drawing, f"{name} may promote to: {piece}", **kind)
            x += 44

    def _draw_squares(self, group: ET.Element) -> None:
        """Draw the squares that there are, and what is in the place of others."""
        length = self.side_length
        backdrop = self.colours[self.board.art.backdrop]
        self._add(group, "rect", width=length, height=length, fill=backdrop)
        holes = {item.square for item in self.board.holes}
        for rank in range(self.board.width):
            for file in range(self.board.width):
                square = 8 * rank + file
                if square not in holes:
                    x, y = self._find_corner(square)
                    self._use(group, "light" if (rank + file) % 2 else "dark", x=x, y=y)
        self._draw_items(group, "hole", self.board.holes)

    def _draw_marks(self, group: ET.Element) -> None:
        """Draw what lies on the squares: links, the last move, check, the game's own marks."""
        colours = self.colours
        if self.scene.last_move:
            for square in dict.fromkeys(find_move_squares(self.scene.last_move)):
                self._draw_frame_of(group, square, "last-move", colours["moved"])
        if self.scene.checked is not None:
            self._draw_frame_of(group, self.scene.checked, "check", colours["check"])
        for link in self.board.links:
            self._draw_link(group, link)
        self._draw_items(group, "mark", self.board.marks)

    def _draw_link(self, group: ET.Element, link: Link) -> None:
        """Draw a line from beside one square's middle to beside the other's."""
        (x1, y1), (x2, y2) = map(self._find_middle, link.squares)
        share = 40 / hypot(x2 - x1, y2 - y1)
        x, y = (x2 - x1) * share, (y2 - y1) * share
        path = f"M{x1 + x:.0f} {y1 + y:.0f}L{x2 - x:.0f} {y2 - y:.0f}"
        line = self._add(group, "g", data_kind="link", fill="none", stroke_dasharray="20 12")
        self._add(line, "title", link.title)
        for colour, width in ((f"{link.colour}_line", 13), (link.colour, 8)):
            paint: _Attributes = {"stroke": self.colours[colour], "stroke_width": width}
            self._add(line, "path", d=path, **paint)

    def _draw_frame_of(self, group: ET.Element, square: int, kind: str, colour: str) -> None:
        x, y = self._find_corner(square)
        size: _Attributes = {"x": x + 4, "y": y + 4, "width": 92, "height": 92, "rx": 10}
        paint: _Attributes = {"fill": colour, "fill_opacity": 0.45, "stroke": colour}
        data: _Attributes = {"data_kind": kind, "data_square": format_square(square)}
        self._add(group, "rect", stroke_width=7, **size, **paint, **data)

    def _draw_pieces(self, group: ET.Element) -> None:
        for side in SIDE_NAMES:
            paint = self._find_paint(side)
            pieces = self._add(group, "g", stroke_width=3, stroke_linejoin="round", **paint)
            own = [piece for piece in self.board.pieces if piece.side == side]
            self._draw_items(pieces, "piece", own)

    def _draw_link_labels(self, group: ET.Element) -> None:
        for link in self.board.links:
            if link.label:
                (x1, y1), (x2, y2) = map(self._find_middle, link.squares)
                colour = self.colours[link.colour]
                self._draw_badge(group, link.label, ((x1 + x2) / 2, (y1 + y2) / 2), colour)

    def _draw_line(self, group: ET.Element) -> None:
        """Draw the moves of the line as arrows, all of them below all of their numbers."""
        sides = [self.board.side, BLACK if self.board.side == WHITE else WHITE]
        badges = []
        for arrow in find_arrows(self.scene.line):
            origin, end = self._find_middle(arrow.origin), self._find_middle(arrow.end)
            name = "white_arrow" if sides[arrow.first % 2] == WHITE else "black_arrow"
            path, label_at = draw_arrow(origin, end)
            colour = self.colours[name]
            self._add(group, "path", d=path, data_kind="arrow", fill=colour, opacity=0.85)
            badges.append((",".join(arrow.labels), label_at, colour))
        for text, at, colour in badges:
            self._draw_badge(group, text, at, colour)

    def _draw_badge(
        self, group: ET.Element, text: str, at: tuple[float, float], colour: str
    ) -> None:
        """Draw a short text on a plate around a point."""
        x, y = round(at[0]), round(at[1])
        width = 18 + 13 * len(text)
        place: _Attributes = {"x": x - width // 2, "y": y - 15, "width": width, "height": 30}
        paint: _Attributes = {"fill": self.colours["badge"], "stroke": colour, "stroke_width": 3}
        self._add(group, "rect", rx=15, **place, **paint)
        words: _Attributes = {"font_size": 22, "font_weight": 700, "text_anchor": "middle"}
        self._add(group, "text", text, x=x, y=y + 8, fill=colour, **words)

    def _draw_items(self, group: ET.Element, kind: str, items: list[Item]) -> None:
        for item in items:
            x, y = self._find_corner(item.square)
            data: _Attributes = {"data_kind": kind, "data_square": format_square(item.square)}
            self._use(group, item.drawing, item.title, x=x, y=y, **data)

    def _find_paint(self, side: str) -> _Attributes:
        """Return the colours of a side's pieces: body, outline, and details."""
        name = SIDE_NAMES[side].lower()
        line = self.colours[f"{name}_line"]
        detail = self.colours.get(f"{name}_detail", line)
        return {"fill": self.colours[name], "stroke": line, "color": detail}

    def _find_corner(self, square: int) -> tuple[int, int]:
        """Return the upper left corner of a square on the board."""
        file, rank, last = square % 8, square // 8, self.board.width - 1
        column, row = (last - file, rank) if self.is_flipped else (file, last - rank)
        return column * _SQUARE, row * _SQUARE

    def _find_middle(self, square: int) -> tuple[int, int]:
        x, y = self._find_corner(square)
        return x + _SQUARE // 2, y + _SQUARE // 2

    def _use(
        self, parent: ET.Element, drawing: str, title: str = "", /, **attributes: str | float
    ) -> None:
        """Show a drawing, with words for a pointer that rests on it."""
        element = self._add(parent, "use", **attributes)
        element.set("href", f"#{self.prefix}{drawing}")
        if title:
            self._add(element, "title", title)

    def _add(
        self, parent: ET.Element, name: str, text: str = "", /, **attributes: str | float
    ) -> ET.Element:
        """Append an element; an underscore in an attribute's name stands for a dash."""
        given = {key.replace("_", "-"): str(value) for key, value in attributes.items()}
        element = ET.SubElement(parent, name, given)
        if text:
            element.text = text
        return element


def _name_items(side: str, items: list[Item]) -> list[str]:
    return [f"{item.name} {format_square(item.square)}" for item in items if item.side == side]
