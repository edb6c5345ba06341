"""Who scored how much against whom in the games of a file."""

from collections import defaultdict
from dataclasses import dataclass, field

from core.records.game import DRAWN, UNFINISHED, WON


@dataclass
class Standing:
    """A player's results; `against`: points and games against each other player, by name."""

    player: str
    won: int = 0
    drawn: int = 0
    lost: int = 0
    against: dict[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """Games with a result."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """One for a game won, half of one for a game drawn."""
        return self.won + self.drawn / 2


class Crosstable:
    """Results added one by one; a game without a result is counted, and gives no points."""

    def __init__(self) -> None:
        self.undecided = 0
        self._standings: dict[str, Standing] = {}
        self._pairs: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, players: tuple[str, str], result: str) -> None:
        """Count a game of White and Black."""
        if result == UNFINISHED:
            self.undecided += 1
            return
        for side, player in enumerate(players):
            points = 0.5 if result == DRAWN else float(result == WON[side])
            standing = self._standings.setdefault(player, Standing(player))
            standing.won += points == 1
            standing.drawn += points == 0.5
            standing.lost += points == 0
            self._pairs[player, players[1 - side]].append(points)

    def rank(self) -> list[Standing]:
        """Return the standings: by points, the share of the games, then by name."""
        for (player, other), points in self._pairs.items():
            self._standings[player].against[other] = (sum(points), len(points))
        return sorted(
            self._standings.values(), key=lambda s: (-s.points, -s.points / s.games, s.player)
        )
