"""`tilewarp board`: a position as a picture in a file, or as text on the terminal."""

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from core.picture import THEMES, Scene, build_scene, draw_spans
from core.position import STARTPOS
from gateway.cli.errors import WrongInput
from gateway.cli.positions import exit_on_wrong_input, parse_position, push_moves

_SUFFIX = ".svg"
# On a terminal of sixteen colours, none of these becomes the white or black of the pieces.
_GROUNDS = {
    "light": "on color(136)",
    "dark": "on color(94)",
    "hole": "color(117) on color(31)",
    "moved": "on color(70)",
    "check": "on color(160)",
}
_SIDES = {"w": "bold color(231)", "b": "bold color(16)"}


@click.command()
@click.argument("variant")
@click.argument("fen", default=STARTPOS)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Write a picture to this file instead.",
)
@click.option("--moves", default="", metavar='"MOVE …"', help="Moves played from FEN.")
@click.option("--line", default="", metavar='"MOVE …"', help="Moves from there, shown as arrows.")
@click.option("--flip", "is_flipped", is_flag=True, help="Show the board as Black sees it.")
@click.option(
    "--theme",
    type=click.Choice(list(THEMES)),
    default="light",
    show_default=True,
    help="The colours of a picture.",
)
def board(
    variant: str,
    fen: str,
    out: Path | None,
    moves: str,
    line: str,
    is_flipped: bool,
    theme: str,
) -> None:
    """Draw a position, its last move and check: as text, or with -o as a picture.

    Text is coloured on a terminal that has colours, unless NO_COLOR is set; elsewhere it is plain
    ASCII. White's pieces are capitals. [ ] is a chakra of White's, ( ) one of Black's, its mode
    behind it; ≈ or ~ is a hole.
    """
    position = parse_position(variant, fen)
    push_moves(position, moves.split())
    with exit_on_wrong_input():
        scene = build_scene(position, line.split())
    if out is None:
        _show(scene, is_flipped)
        return
    if out.suffix != _SUFFIX:
        raise WrongInput(f"{click.format_filename(out)}: pictures are SVG, in a file named *.svg")
    picture = position.svg(line.split(), is_flipped=is_flipped, theme=theme)
    try:
        out.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise WrongInput(f"{click.format_filename(out)}: {error.strerror}") from error


def _show(scene: Scene, is_flipped: bool) -> None:
    console = Console(highlight=False)
    is_unicode = console.is_terminal and console.encoding.startswith("utf")
    text = Text()
    for span in draw_spans(scene, is_flipped=is_flipped, is_ascii=not is_unicode):
        styles = (_GROUNDS.get(span.ground, ""), _SIDES.get(span.side or "", ""))
        text.append(span.text, " ".join(styles).strip())
    console.print(text, end="", soft_wrap=True)
