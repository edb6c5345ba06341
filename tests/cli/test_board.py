"""`tilewarp board`: text on terminals and elsewhere, pictures in files, and what is refused."""

import re
import shlex
from pathlib import Path

import pytest

from core.position import Position
from tests.cli.command import assert_refused, run

ROOT = Path(__file__).parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
EXAMPLES = re.findall(
    r"^tilewarp (board .*-o examples/.*)$", (ROOT / "docs/pictures.md").read_text(), re.M
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Standard output is taken for a terminal with colours."""
    for name in ("NO_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    return monkeypatch


def test_in_a_pipe_the_board_is_plain_ascii() -> None:
    result = run("board", "caissa")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    assert "\x1b" not in result.stdout
    assert "\n3 |     |     |  R  |     |     |     |     | 3\n" in result.stdout


def test_a_terminal_has_lines_and_colours(terminal: pytest.MonkeyPatch) -> None:
    result = run("board", "chakra", "--moves", "b2b4")
    assert "\x1b[1;38;5;231;48;5;70mP\x1b[0m" in result.stdout
    plain = ESCAPE.sub("", result.stdout)
    assert "4 │     │  P  │     │" in plain
    assert plain.endswith("Black's transmitter: a7 and h7\n")


def test_no_color_is_respected(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("NO_COLOR", "1")
    result = run("board", "chakra")
    assert "│ [ ]n│" in ESCAPE.sub("", result.stdout)
    assert {code for code in ESCAPE.findall(result.stdout) if "8;5" in code} == set()


def test_a_terminal_without_unicode_has_ascii(terminal: pytest.MonkeyPatch) -> None:
    terminal.setattr("rich.console.Console.encoding", "ascii")
    assert run("board", "chakra").stdout.isascii()


def test_a_picture_goes_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "board.svg"
    options = ["--moves", "b2b4 g7g5", "--line", "a2c3f", "--flip", "--theme", "dark"]
    result = run("board", "chakra", "startpos", "-o", str(file), *options)
    assert (result.exit_code, result.output) == (0, "")
    position = Position("chakra")
    position.push("b2b4")
    position.push("g7g5")
    assert file.read_text() == position.svg(["a2c3f"], is_flipped=True, theme="dark")


def test_wrong_input_is_refused_and_no_file_written(tmp_path: Path) -> None:
    file = str(tmp_path / "board.svg")
    for arguments, reason in [
        (("chess",), "unknown variant 'chess'"),
        (("chakra", "x"), "6 fields are required"),
        (("chakra", "--moves", "b2b4 b2b4"), "2. move 'b2b4': not legal"),
        (("caissa", "--line", "c3c5 c3c4"), "move 'c3c4': not legal"),
        (("caissa", "--line", "\x1b"), "x1b': not two squares"),
    ]:
        assert_refused("board", *arguments, reason=reason)
        assert_refused("board", *arguments, "-o", file, reason=reason)
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_hold_a_picture_are_refused(tmp_path: Path) -> None:
    assert_refused("board", "chakra", "-o", str(tmp_path / "a.png"), reason="named *.svg")
    assert_refused("board", "chakra", "-o", str(tmp_path / "no" / "a.svg"), reason="No such file")
    (tmp_path / "dir.svg").mkdir()
    result = run("board", "chakra", "-o", str(tmp_path / "dir.svg"))
    assert result.exit_code == 2
    assert "is a directory" in result.stderr
    assert run("board", "chakra", "--theme", "blue").exit_code == 2


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_what_their_commands_draw(example: str, tmp_path: Path) -> None:
    *arguments, name = shlex.split(example)
    file = tmp_path / "example.svg"
    assert run(*arguments, str(file)).exit_code == 0
    assert file.read_text() == (ROOT / name).read_text()


def test_there_is_an_example_of_each_game() -> None:
    assert {example.split()[1] for example in EXAMPLES} == {"chakra", "caissa"}
