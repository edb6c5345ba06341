"""Share of points, Elo and the sequential test, against figures known from elsewhere."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.match.rating import (
    Sprt,
    find_elo,
    find_elo_bounds,
    find_expected_share,
    find_share,
)

counts = st.lists(st.integers(0, 300), min_size=5, max_size=5).filter(any)


def test_share_and_its_error_by_hand() -> None:
    """4 pairs with 0, 1, 1 and 2 points: mean 1/2, variance 1/8 of a pair's share."""
    assert find_share([1, 0, 2, 0, 1]) == (0.5, pytest.approx(math.sqrt(1 / 8 / 4)))


def test_error_is_unknown_while_pairs_do_not_differ() -> None:
    assert find_share([0, 0, 0, 0, 0]) == (0.5, math.inf)
    assert find_share([0, 0, 0, 0, 7]) == (1.0, math.inf)
    assert find_elo_bounds([0, 0, 0, 0, 7]) == (math.inf, -math.inf, math.inf)


def test_elo_by_hand() -> None:
    assert find_elo(10 / 11) == pytest.approx(400)
    assert find_elo(1 / 11) == pytest.approx(-400)
    assert str(find_elo(0.5)) == "0.0"
    assert (find_elo(0), find_elo(1)) == (-math.inf, math.inf)


def test_pentanomial_elo_by_hand() -> None:
    """Share 0.5375; variance 0.0892 a pair: 1.96 standard errors of 0.02987 to each side."""
    elo, low, high = find_elo_bounds([10, 20, 30, 25, 15])
    assert elo == pytest.approx(400 * math.log10(0.5375 / 0.4625))
    assert low == pytest.approx(find_elo(0.5375 - 1.959964 * 0.02986951), abs=1e-4)
    assert high == pytest.approx(find_elo(0.5375 + 1.959964 * 0.02986951), abs=1e-4)


def test_colours_exchanged_within_a_pair_narrow_the_error() -> None:
    """Games that each side wins with White say much about equality; games apart, little."""
    _, paired = find_share([1, 0, 48, 0, 1])
    _, apart = find_share([25, 0, 0, 0, 25])
    assert paired < apart / 4


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "llr"),
    [
        ([223, 9863, 21279, 10037, 246], 0.5, 2.5, -3.07),
        ([871, 26175, 55983, 26678, 821], 0, 2, -4.98),
    ],
)
def test_llr_of_published_matches(pairs: list[int], elo0: float, elo1: float, llr: float) -> None:
    """Counts and ratios that public test programs of computer chess are checked by."""
    assert Sprt(elo0, elo1).find_llr(pairs) == pytest.approx(llr, abs=0.01)


def test_llr_of_wins_alone_by_hand() -> None:
    """All weight on one share s: the likeliest tilt leaves log(mean1 / mean0) a pair."""
    expected = 20 * math.log(find_expected_share(10) / find_expected_share(0))
    assert Sprt(0, 10).find_llr([0, 0, 0, 0, 20]) == pytest.approx(expected, rel=0.01)


def test_bounds_are_walds() -> None:
    assert Sprt(0, 5).bounds == (pytest.approx(-2.944, abs=1e-3), pytest.approx(2.944, abs=1e-3))
    assert Sprt(0, 5, alpha=0.01, beta=0.1).bounds == (
        pytest.approx(math.log(0.1 / 0.99)),
        pytest.approx(math.log(0.9 / 0.01)),
    )


def test_decision() -> None:
    sprt = Sprt(0, 50)
    assert sprt.decide([0, 0, 0, 0, 0]) is None
    assert sprt.decide([0, 0, 2, 0, 1]) is None
    assert sprt.decide([0, 2, 20, 60, 20]) == 50
    assert sprt.decide([20, 60, 20, 2, 0]) == 0


@given(counts)
def test_llr_turns_its_sign_with_the_sides(pairs: list[int]) -> None:
    assert Sprt(-5, 5).find_llr(pairs) == pytest.approx(-Sprt(-5, 5).find_llr(pairs[::-1]))


@given(counts, st.integers(2, 5))
def test_llr_grows_with_the_number_of_pairs(pairs: list[int], factor: int) -> None:
    full = [n + 1 for n in pairs]
    many = [n * factor for n in full]
    assert Sprt(0, 8).find_llr(many) == pytest.approx(factor * Sprt(0, 8).find_llr(full))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ((5, 5), "Elo 5 is not below 5"),
        ((0, 5, 0, 0.05), "alpha and beta"),
        ((0, 5, 0.05, 0.5), "alpha and beta"),
    ],
)
def test_impossible_tests_are_refused(settings: tuple[float, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Sprt(*settings)
