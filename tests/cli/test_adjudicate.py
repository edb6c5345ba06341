"""The command that adjudicates, as far as it needs no service; and its table of players."""

from core.adjudication import Crosstable
from gateway.cli.verdicts import standings_object, standings_text
from tests.cli.command import assert_refused


def test_wrong_terms_are_refused() -> None:
    assert_refused("adjudicate", "-", "--resign", "500", "-1", reason="resign_count -1 is not")
    assert_refused("adjudicate", "-", "--two-sided", reason="is_two_sided says nothing")


def make_table() -> Crosstable:
    table = Crosstable()
    table.add(("Anna", "Ben\x1b[2J"), "1-0")
    table.add(("Ben\x1b[2J", "x" * 500), "1/2-1/2")
    table.add(("Anna", "x" * 500), "*")
    return table


def test_players_are_shown_with_their_meetings() -> None:
    table = make_table()
    head, first, second, third, last = standings_text(table.rank(), table.undecided).splitlines()
    assert head.split() == ["player", "points", "games", "+", "=", "-", "1", "2", "3"]
    assert first.split() == ["1.", "Anna", "1", "1", "1", "0", "0", "-", "-", "1/1"]
    assert second.split()[1:4] == ["x" * 29 + "…", "0.5", "1"]
    assert third.split()[1:] == ["Ben\\x1b[2J", "0.5", "2", "0", "1", "1", "0/1", "0.5/1", "-"]
    assert last == "undecided: 1"


def test_the_object_has_every_meeting() -> None:
    table = make_table()
    found = standings_object(table.rank(), table.undecided)
    assert found["undecided"] == 1
    assert found["standings"][0] == {
        "player": "Anna",
        "points": 1.0,
        "games": 1,
        "won": 1,
        "drawn": 0,
        "lost": 0,
        "against": {"Ben\x1b[2J": {"points": 1.0, "games": 1}},
    }


def test_a_table_without_players_is_shown() -> None:
    assert standings_text([], 3).endswith("undecided: 3")
