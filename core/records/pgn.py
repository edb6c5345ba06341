"""Game files in the form of PGN: tags, movetext, result. CodeCup's lists of moves are movetext.

Read as a stream, in linear time, whatever stands in it. A line that begins tags begins another game
when the one before has come to its moves, so that one that is broken harms no other.
"""

import re
from collections.abc import Iterable, Iterator

from core.notation import escape_text
from core.records.comments import find_score
from core.records.game import (
    MAX_MOVES,
    MAX_TAG_LENGTH,
    MAX_TAGS,
    RESULTS,
    UNFINISHED,
    BrokenRecord,
    GameRecord,
    Record,
    RecordedMove,
)
from core.records.lines import TOO_LONG, NumberedLine
from core.records.moves import parse_move

MAX_DEPTH = 64
"""Of variations within one another."""
# Characters of a comment in which a score is looked for.
_KEPT_COMMENT = 200

_TAG = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_]*)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*', re.ASCII)
_TAG_BEGIN = re.compile(r"\[\s*[A-Za-z]")
_ESCAPED = re.compile(r"\\(.)")
_BLANKS = re.compile(r"\s*")
_TOKEN = re.compile(
    r"""(?P<result>(?:1-0|0-1|1/2-1/2|\*)(?![^\s({;]))
      | (?P<filling>[0-9]{1,9}(?:\.+|(?![^\s({;]))|\.+|\$[0-9]{1,9}|[!?]{1,2})
      | (?P<mark>[(){};])
      | (?P<word>[^\s(){};$!?]+)
      | (?P<other>.)""",
    re.VERBOSE,
)
# The words before and after a game of the CodeCup protocol.
_START, _ENDS = "start", ("end", "quit")


def read_pgn(lines: Iterable[NumberedLine], variant: str) -> Iterator[Record]:
    """Yield each game; `variant` is that of games that have no such tag, if not empty."""
    reader = _Reader(variant)
    for number, text in lines:
        yield from reader.read_line(number, text)
    yield from reader.close()


class _Draft:
    """A game as far as it is read; the first fault found is kept."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.tags: dict[str, str] = {}
        self.moves: list[RecordedMove] = []
        self.result = UNFINISHED
        self.has_movetext = False
        self.fault: tuple[int, str] | None = None
        # Where an open comment, or the outermost open variation, began; 0: there is none.
        self.comment_line = self.variation_line = 0
        self.depth = 0
        self._comment = ""

    def blame(self, line: int, reason: str) -> None:
        self.fault = self.fault or (line, reason)

    def read_tag(self, line: int, text: str) -> None:
        match = _TAG.fullmatch(text)
        if match is None:
            self.blame(line, f'{escape_text(text)!r} is not a tag such as [Variant "chakra"]')
            return
        name, value = match[1], _ESCAPED.sub(r"\1", match[2])
        if name in self.tags:
            self.blame(line, f"the tag {escape_text(name)} comes twice")
        elif len(self.tags) == MAX_TAGS:
            self.blame(line, f"there are more than {MAX_TAGS} tags")
        elif len(name) + len(value) > MAX_TAG_LENGTH:
            self.blame(line, f"a tag is longer than {MAX_TAG_LENGTH} characters")
        elif name == "Result" and value not in (*RESULTS, "?"):
            self.blame(line, f"the result {escape_text(value)!r} is none of {' '.join(RESULTS)}")
        else:
            self.tags[name] = value

    def read_word(self, line: int, word: str) -> None:
        move = parse_move(word)
        if move is None:
            self.blame(line, f"{escape_text(word)!r} is neither a move nor a result")
        elif len(self.moves) == MAX_MOVES:
            self.blame(line, f"there are more than {MAX_MOVES} moves")
        else:
            self.moves.append(RecordedMove(move))

    def open_comment(self, line: int) -> None:
        self.comment_line, self._comment = line, ""

    def read_comment(self, text: str, at: int) -> int:
        """Read on in a comment; return where it ends, or the text does."""
        end = text.find("}", at)
        kept = _KEPT_COMMENT - len(self._comment)
        self._comment += text[at : min(at + kept, len(text) if end < 0 else end)]
        if end < 0:
            return len(text)
        self.comment_line = 0
        self._take_score()
        return end + 1

    def _take_score(self) -> None:
        """Give the last move the score that a comment tells, if it has none."""
        if self.depth or not self.moves or self.moves[-1].score is not None:
            return
        fen = self.tags.get("FEN", "").split()
        black_began = fen[1:2] == ["b"]
        found = find_score(self._comment, len(self.moves) % 2 != black_began)
        if found:
            self.moves[-1] = RecordedMove(self.moves[-1].text, *found)

    def change_depth(self, line: int, by: int) -> None:
        if self.depth + by < 0:
            self.blame(line, ") closes no variation")
            return
        if self.depth == 0:
            self.variation_line = line
        self.depth += by
        if self.depth > MAX_DEPTH:
            self.blame(line, f"variations are nested more than {MAX_DEPTH} deep")

    def build(self, index: int, variant: str) -> Record | None:
        """Return the game; None if there is nothing of one."""
        if self.comment_line:
            self.blame(self.comment_line, "a comment is not closed")
        if self.depth:
            self.blame(self.variation_line, "a variation is not closed")
        if not (self.tags or self.has_movetext or self.fault):
            return None
        tags = dict(self.tags)
        variant = tags.pop("Variant", variant)
        if not variant:
            self.blame(self.line, "there is no tag Variant")
        told = tags.pop("Result", UNFINISHED)
        results = {told if told in RESULTS else UNFINISHED, self.result} - {UNFINISHED}
        if len(results) == 2:
            self.blame(self.line, f"the tag Result is {told}, and the moves end with {self.result}")
        if self.fault:
            return BrokenRecord(index, self.line, *self.fault)
        result = results.pop() if results else UNFINISHED
        fen = tags.pop("FEN", "")
        return GameRecord(variant, fen, tuple(self.moves), result, tags, index, self.line)


class _Reader:
    """Takes line after line, and gives back each game that one ends."""

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._count = 0
        self._draft: _Draft | None = None
        self._was_blank = True

    def read_line(self, number: int, text: str) -> Iterator[Record]:
        """Yield the games that end with, or before, a line."""
        was_blank, self._was_blank = self._was_blank, not text.strip()
        if text == TOO_LONG:
            broken = self._open(number)
            broken.has_movetext = True
            broken.blame(number, "the line is too long")
        elif text.startswith("%"):
            return
        elif self._was_blank:
            draft = self._draft
            if draft and draft.has_movetext and not (draft.tags or draft.comment_line):
                yield from self.close()
        elif _TAG.fullmatch(text) or ((was_blank or self._is_in_tags) and _TAG_BEGIN.match(text)):
            if not self._is_in_tags:
                yield from self.close()
            self._open(number).read_tag(number, text)
        else:
            yield from self._read_movetext(number, text)

    def close(self) -> Iterator[Record]:
        """Yield the game that was begun, if any."""
        draft, self._draft = self._draft, None
        record = draft.build(self._count, self._variant) if draft else None
        if record is not None:
            self._count += 1
            yield record

    @property
    def _is_in_tags(self) -> bool:
        """Whether a game was begun, and has no more than tags."""
        draft = self._draft
        return draft is not None and not (draft.has_movetext or draft.comment_line or draft.depth)

    def _open(self, line: int) -> _Draft:
        """Return the game that is read, a new one that begins on this line if there is none."""
        if self._draft is None:
            self._draft = _Draft(line)
        return self._draft

    def _read_movetext(self, number: int, text: str) -> Iterator[Record]:
        at = 0
        while True:
            if self._draft and self._draft.comment_line:
                at = self._draft.read_comment(text, at)
            blanks = _BLANKS.match(text, at)
            assert blanks
            match = _TOKEN.match(text, blanks.end())
            if match is None:
                return
            draft = self._open(number)
            at = match.end()
            kind, token = match.lastgroup, match[0]
            if token == ";":
                return
            if kind == "mark":
                _read_mark(draft, number, token)
            elif draft.depth:
                continue
            elif kind == "result" or token in _ENDS or (token == _START and draft.has_movetext):
                draft.has_movetext = True
                draft.result = token if kind == "result" else UNFINISHED
                yield from self.close()
            else:
                draft.has_movetext = True
                if kind == "other":
                    draft.blame(number, f"unexpected {escape_text(token)!r}")
                elif kind == "word" and token != _START:
                    draft.read_word(number, token)


def _read_mark(draft: _Draft, line: int, mark: str) -> None:
    if mark == "{":
        draft.open_comment(line)
    elif mark == "}":
        draft.has_movetext = True
        draft.blame(line, "} closes no comment")
    else:
        draft.change_depth(line, 1 if mark == "(" else -1)
