"""Pictures: what they show, element by element, and that any page can hold them."""

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from core.games import VARIANTS
from core.notation import MoveError
from core.picture import THEMES, build_scene, draw_spans
from core.position import Position
from tests.core.judge import GOLDEN

SVG = "{http://www.w3.org/2000/svg}"
KO = "**4*/R***b**/1q1**B*/**1*Q*1/*1*r**n/1*****1/*1***N* w f1g3 5 57"
MODES = {"n": "knight", "k": "king"}


def draw(position: Position, *line: str, **options: Any) -> ET.Element:
    return ET.fromstring(position.svg(line, **options))


def find_all(picture: ET.Element, kind: str) -> list[ET.Element]:
    return [element for element in picture.iter() if element.get("data-kind") == kind]


def find_squares(picture: ET.Element, kind: str) -> list[str]:
    return sorted(element.get("data-square", "") for element in find_all(picture, kind))


def find_titles(picture: ET.Element, kind: str) -> dict[str, str]:
    """The words of each element of a kind, by its square."""
    return {
        e.get("data-square", ""): e.findtext(f"{SVG}title", "") for e in find_all(picture, kind)
    }


def find_places(picture: ET.Element, kind: str) -> dict[str, tuple[float, float]]:
    found = find_all(picture, kind)
    return {e.get("data-square", ""): (float(e.get("x", "")), float(e.get("y", ""))) for e in found}


def read_cells(fen: str) -> dict[str, str]:
    """The letters of a FEN's board by square."""
    cells = {}
    ranks = fen.split()[0].split("/")
    for rank, row in zip(range(len(ranks), 0, -1), ranks, strict=True):
        wide = re.sub(r"\d", lambda digit: "." * int(digit[0]), row)
        cells |= {f"{file}{rank}": letter for file, letter in zip("abcdefgh", wide, strict=False)}
    return {square: letter for square, letter in cells.items() if letter != "."}


def play(variant: str, moves: str, fen: str = "startpos") -> Position:
    position = Position(variant, fen)
    for move in moves.split():
        position.push(move)
    return position


# Every position


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_piece_chakra_and_hole_is_one_element_on_its_square(variant: str) -> None:
    for row in GOLDEN:
        if row["variant"] != variant:
            continue
        picture, cells = draw(Position(variant, row["fen"])), read_cells(row["fen"])
        pieces = {square: letter for square, letter in cells.items() if letter != "*"}
        assert find_squares(picture, "piece") == sorted(pieces)
        for square, title in find_titles(picture, "piece").items():
            side, name = re.fullmatch(rf"(White|Black)'s (\w+) on {square}", title).groups()  # type: ignore[union-attr]
            assert (side == "White") == pieces[square].isupper()
            assert name[0] == pieces[square].lower() or (name, pieces[square].lower()) == (
                "knight",
                "n",
            )
        assert find_squares(picture, "hole") == sorted(cells.keys() - pieces.keys())
        chakras = re.findall(r"([a-h][1-8])([nk])\b", " ".join(row["fen"].split()[2:4]))
        chakras = chakras if VARIANTS[variant].game == "chakra" else []
        titles = find_titles(picture, "mark")
        assert len(find_all(picture, "mark")) == len(titles) == len(chakras)
        assert all(f"{MODES[mode]}-mode chakra" in titles[square] for square, mode in chakras)
        assert bool(find_all(picture, "check")) == row["check"]


@pytest.mark.parametrize("theme", THEMES)
def test_pictures_stand_alone(theme: str) -> None:
    """Ids are unique, and all that is referred to is inside."""
    for row in GOLDEN[::5]:
        position = Position(row["variant"], row["fen"])
        text = position.svg(row["moves"][:1], theme=theme)
        picture = ET.fromstring(text)
        ids = Counter(e.get("id") for e in picture.iter() if e.get("id"))
        assert set(ids.values()) == {1}
        used = {e.get("href", "").removeprefix("#") for e in picture.iter(f"{SVG}use")}
        named = set(picture.get("aria-labelledby", "").split())
        assert used | named == set(ids), "defined and not used, or used and not defined"
        assert text.count("://") == 1
        assert text.isascii()
        assert len(text) < 20_000


def test_pictures_are_the_same_each_time_and_share_no_id_with_others() -> None:
    first, again, other = (play("chakra", m) for m in ("b2b4", "b2b4", "b2b3"))
    assert first.svg() == again.svg() == first._repr_svg_()
    pictures = [draw(first), draw(other), draw(first, theme="dark"), draw(first, is_flipped=True)]
    ids = Counter(e.get("id") for p in pictures for e in p.iter() if e.get("id"))
    assert set(ids.values()) == {1}


def test_words_tell_what_the_picture_shows() -> None:
    picture = draw(play("chakra", "a2b4"))
    assert picture.get("role") == "img"
    assert picture.findtext(f"{SVG}title") == "chakra: Black to move"
    words = picture.findtext(f"{SVG}desc", "")
    assert "White: ape a1, courtesan b1, " in words
    assert "knight-mode chakra b4, knight-mode chakra h2; Black: " not in words
    assert "knight-mode chakra h2, knight-mode chakra b4; Black: " in words
    assert "last move a2b4" in words
    assert "; holes: a1, c1, d1, e1, " in draw(Position("caissa", KO)).findtext(f"{SVG}desc", "")


# The game around the position


def test_last_move() -> None:
    assert find_squares(draw(play("chakra", "b2b4 g7g5")), "last-move") == ["g5", "g7"]
    assert find_squares(draw(play("caissa", "C3-C5")), "last-move") == ["c3", "c5"]
    assert find_squares(draw(play("chakra", "a2a2f")), "last-move") == ["a2"]
    assert find_squares(draw(Position("chakra")), "last-move") == []


@pytest.mark.parametrize(
    ("variant", "fen", "square", "status"),
    [
        ("chakra", "7k/8/8/8/8/8/8/K6Q b - - 0 1", "h8", "Black to move, in check"),
        ("chakra", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", "a8", "Black to move: checkmate"),
        ("caissa", KO, "e4", "White to move: checkmate"),
        ("chakra", "k7/8/8/8/8/8/8/7K w - - 0 1", "", "White to move: drawn by insufficient"),
        ("chakra", "k7/8/1Q6/8/8/8/8/7K b - - 0 1", "", "Black to move: stalemate"),
    ],
)
def test_check_and_outcome(variant: str, fen: str, square: str, status: str) -> None:
    picture = draw(Position(variant, fen))
    assert find_squares(picture, "check") == ([square] if square else [])
    assert status in [e.text for e in picture.iter(f"{SVG}text")]


def test_a_line_has_an_arrow_for_each_pair_of_squares_with_the_numbers_of_its_moves() -> None:
    position = Position("chakra", "6k1/8/8/8/8/2P5/2P5/4K3 w c4n,f8n - 0 1")
    line = ["c3f8q", "g8h7", "f8f4", "h7g8", "c4c4f", "g8h7"]
    picture = draw(position, *line)
    labels = [e.text for e in picture.iter(f"{SVG}text")]
    assert len(find_all(picture, "arrow")) == 5
    assert [text for text in labels if text and text[0] in "123456" and len(text) > 1] == [
        *("1q", "2,6", "5f")
    ]
    assert {"3", "4"} <= set(labels)
    colours = [e.get("fill") for e in find_all(picture, "arrow")]
    white, black = THEMES["light"]["white_arrow"], THEMES["light"]["black_arrow"]
    assert colours == [white, black, white, black, white]
    assert position.moves == []


def test_a_line_that_is_not_legal_is_refused() -> None:
    with pytest.raises(MoveError, match="e2e5"):
        Position("chakra").svg(["b2b4", "e2e5"])


def test_other_themes_are_refused() -> None:
    with pytest.raises(ValueError, match="'blue' is none of light, dark"):
        Position("chakra").svg(theme="blue")


def test_themes_differ_in_colours_alone() -> None:
    assert THEMES["light"].keys() == THEMES["dark"].keys()
    light, dark = (draw(Position("caissa", KO), theme=theme) for theme in ("light", "dark"))
    assert [e.tag for e in light.iter()] == [e.tag for e in dark.iter()]
    assert find_places(light, "piece") == find_places(dark, "piece")


@pytest.mark.parametrize(("variant", "far"), [("chakra", 700), ("caissa", 600)])
def test_black_sees_the_board_turned_round(variant: str, far: int) -> None:
    for kind in ("piece", "mark", "hole"):
        fen = KO if variant == "caissa" else "startpos"
        position = Position(variant, fen)
        ours = find_places(draw(position), kind)
        theirs = find_places(draw(position, is_flipped=True), kind)
        assert {s: (far - x, far - y) for s, (x, y) in ours.items()} == theirs
    assert find_places(draw(Position("chakra")), "piece")["a1"] == (0, 700)


# What only one game has


def test_the_two_chakras_of_a_side_are_linked() -> None:
    links = find_all(draw(play("chakra", "a2b4")), "link")
    titles = [link.findtext(f"{SVG}title") for link in links]
    assert titles == ["White's transmitter: h2 and b4", "Black's transmitter: a7 and h7"]
    alone = Position("chakra", "6k1/8/8/8/8/2P5/2P5/4K3 w c4n,f8n - 0 1")
    assert len(find_all(draw(alone), "link")) == 1


def test_the_reserve_has_what_a_pawn_may_become() -> None:
    fen = "6k1/8/8/8/8/2P5/2P5/1AAQKSM1 w c4n,f8n - 0 1"
    found = find_titles(draw(Position("chakra", fen)), "reserve")
    assert list(found.values()) == ["White may promote to: courtesan"]
    assert len(find_all(draw(Position("chakra", fen)), "reserve")) == 2
    assert find_all(draw(Position("chakra")), "reserve") == []
    without_pawns = Position("chakra", "6k1/8/8/8/8/8/8/4K3 w c4n,f8n - 0 1")
    assert find_all(draw(without_pawns), "reserve") == []


def test_the_exchange_that_ko_forbids_is_marked() -> None:
    picture = draw(Position("caissa", KO))
    (link,) = find_all(picture, "link")
    assert link.findtext(f"{SVG}title") == "exchange that ko forbids: f1 and g3"
    assert "ko" in [e.text for e in picture.iter(f"{SVG}text")]


# As text

CHAKRA = """\
     a     b     c     d     e     f     g     h
  ┌─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┐
8 │  a  │  c  │  m  │  q  │  k  │  s  │     │  a  │ 8
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
7 │ ( )n│  p  │  p  │  p  │  p  │  p  │     │ (c)n│ 7
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
6 │     │     │     │     │     │     │     │     │ 6
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
5 │     │     │     │     │     │     │  p  │     │ 5
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
4 │     │  P  │     │     │     │     │     │     │ 4
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
3 │     │     │ [ ]k│     │     │     │     │     │ 3
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
2 │     │     │  P  │  P  │  P  │  P  │  P  │ [ ]n│ 2
  ├─────┼─────┼─────┼─────┼─────┼─────┼─────┼─────┤
1 │  A  │  C  │  M  │  Q  │  K  │  S  │  C  │  A  │ 1
  └─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┘
     a     b     c     d     e     f     g     h

White to move
move 3, half-move clock 2
last move g8h7
White's transmitter: h2 and c3
Black's transmitter: a7 and h7
"""
CAISSA = """\
     g     f     e     d     c     b     a
  +-----+-----+-----+-----+-----+-----+-----+
1 |~~~~~|  N  |~~~~~|~~~~~|~~~~~|     |~~~~~| 1
  +-----+-----+-----+-----+-----+-----+-----+
2 |     |~~~~~|~~~~~|~~~~~|~~~~~|~~~~~|     | 2
  +-----+-----+-----+-----+-----+-----+-----+
3 |  n  |~~~~~|~~~~~|  r  |~~~~~|     |~~~~~| 3
  +-----+-----+-----+-----+-----+-----+-----+
4 |     |~~~~~|  Q  |~~~~~|     |~~~~~|~~~~~| 4
  +-----+-----+-----+-----+-----+-----+-----+
5 |~~~~~|  B  |~~~~~|~~~~~|     |  q  |     | 5
  +-----+-----+-----+-----+-----+-----+-----+
6 |~~~~~|~~~~~|  b  |~~~~~|~~~~~|~~~~~|  R  | 6
  +-----+-----+-----+-----+-----+-----+-----+
7 |~~~~~|     |     |     |     |~~~~~|~~~~~| 7
  +-----+-----+-----+-----+-----+-----+-----+
     g     f     e     d     c     b     a

White to move: checkmate
move 57, half-move clock 5
exchange that ko forbids: f1 and g3
"""


def test_a_board_of_chakra_as_text() -> None:
    spans = draw_spans(build_scene(play("chakra", "b2b4 g7g5 a2c3f g8h7")))
    assert "".join(span.text for span in spans) == CHAKRA
    assert [s.text for s in spans if s.side == "w" and s.text.strip() in ("[", "]k", "]n")] == [
        *(" [", "]k", " [", "]n")
    ]
    assert "".join(span.text for span in spans if span.ground == "moved") == "      (c)n"


def test_a_board_of_caissa_as_ascii_seen_by_black() -> None:
    scene = build_scene(Position("caissa", KO))
    spans = draw_spans(scene, is_flipped=True, is_ascii=True)
    assert "".join(span.text for span in spans) == CAISSA
    assert "".join(span.text for span in spans if span.ground == "check") == "  Q  "


def test_what_a_line_and_a_reserve_add_to_the_text() -> None:
    position = Position("chakra", "6k1/8/8/8/8/2P5/2P5/1AAQKSM1 w c4n,f8n - 0 1")
    text = "".join(span.text for span in draw_spans(build_scene(position, ["c3f8c"])))
    assert "\nline c3f8c\n" in text
    assert "\nWhite's pawns may become: courtesan, courtesan\n" in text
