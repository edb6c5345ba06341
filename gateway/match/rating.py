"""What the results of a match say: share of points, Elo, and the sequential test.

Games are counted in pairs from one opening with colours exchanged, since the two are not
independent: the pentanomial model.
"""

import math
from dataclasses import dataclass

# Points of a pair for the first engine, as shares: 0, ½, 1, 1½ or 2 of 2 points.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# The 97.5 % quantile of the normal distribution: error bars are of 95 %.
_QUANTILE = 1.959963984540054
# What stands for a kind of pair that did not come yet, so that likelihoods stay finite.
_UNSEEN = 1e-3
_HALVINGS = 100


def find_share(pairs: list[int]) -> tuple[float, float]:
    """Return the share of the points and its standard error.

    The error is infinite while all pairs ended alike, since they tell nothing of how they vary.
    """
    count = sum(pairs)
    if count == 0:
        return 0.5, math.inf
    mean = sum(n * share for n, share in zip(pairs, SHARES, strict=True)) / count
    squares = sum(n * (share - mean) ** 2 for n, share in zip(pairs, SHARES, strict=True))
    return mean, math.sqrt(squares) / count if squares else math.inf


def find_elo(share: float) -> float:
    """Return the difference in Elo at which that share of the points is expected."""
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))


def find_elo_bounds(pairs: list[int]) -> tuple[float, float, float]:
    """Return the Elo difference with the lower and the upper bound of 95 % confidence."""
    share, error = find_share(pairs)
    reach = _QUANTILE * error
    return find_elo(share), find_elo(share - reach), find_elo(share + reach)


def find_expected_share(elo: float) -> float:
    """Return the share of the points expected at a difference in Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Sprt:
    """The sequential test whether the difference is `elo1` rather than `elo0`.

    `alpha`: the chance to accept `elo1` wrongly; `beta`: to accept `elo0` wrongly.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ValueError(f"Elo {self.elo0:g} is not below {self.elo1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("alpha and beta are between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `elo0` or `elo1` is accepted (Wald)."""
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )

    def find_llr(self, pairs: list[int]) -> float:
        """Return the generalised log-likelihood ratio of the pairs seen; 0 for none.

        Each hypothesis is given the likeliest distribution whose mean is its own.
        """
        if sum(pairs) == 0:
            return 0.0
        counts = [n or _UNSEEN for n in pairs]
        low = _tilt(counts, find_expected_share(self.elo0))
        high = _tilt(counts, find_expected_share(self.elo1))
        return sum(
            n * (math.log(p1) - math.log(p0)) for n, p0, p1 in zip(counts, low, high, strict=True)
        )

    def decide(self, pairs: list[int]) -> float | None:
        """Return the Elo difference that is accepted; None while that is open."""
        llr = self.find_llr(pairs)
        lower, upper = self.bounds
        if llr >= upper:
            return self.elo1
        return self.elo0 if llr <= lower else None


def _tilt(counts: list[float], mean: float) -> list[float]:
    """Return the likeliest distribution over SHARES with this mean, for these counts.

    It is p / (1 + t (share - mean)), with p the frequencies, and t the root of the mean's defect,
    which falls as t grows (A. Owen, Empirical Likelihood, 2001, chapter 2).
    """
    total = sum(counts)
    offsets = [share - mean for share in SHARES]
    low, high = -1 / offsets[-1], -1 / offsets[0]
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        defect = sum(n * d / (1 + t * d) for n, d in zip(counts, offsets, strict=True))
        low, high = (t, high) if defect > 0 else (low, t)
    return [n / total / (1 + t * d) for n, d in zip(counts, offsets, strict=True)]
