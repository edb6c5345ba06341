"""Directions and leaps on a square board of any size, and the squares they reach, seen from each
square. No rule of a game.
"""

Step = tuple[int, int]  # files, ranks

ROOK_DIRECTIONS: tuple[Step, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
BISHOP_DIRECTIONS: tuple[Step, ...] = ((1, 1), (1, -1), (-1, -1), (-1, 1))
QUEEN_DIRECTIONS = ROOK_DIRECTIONS + BISHOP_DIRECTIONS
KNIGHT_LEAPS: tuple[Step, ...] = (
    (1, 2),
    (2, 1),
    (2, -1),
    (1, -2),
    (-1, -2),
    (-2, -1),
    (-2, 1),
    (-1, 2),
)


def shifted(square: int, step: Step, size: int) -> int | None:
    """The square some files and ranks away, None beyond the edge."""
    file, rank = square % size + step[0], square // size + step[1]
    return rank * size + file if 0 <= file < size and 0 <= rank < size else None


def build_rays(size: int) -> list[dict[Step, tuple[int, ...]]]:
    """For each square and direction, the squares from there to the edge, the nearest first."""
    return [
        {direction: _build_ray(square, direction, size) for direction in QUEEN_DIRECTIONS}
        for square in range(size * size)
    ]


def build_leaps(steps: tuple[Step, ...], size: int) -> list[tuple[int, ...]]:
    """For each square, the squares one of the steps away."""
    return [
        tuple(end for end in (shifted(square, step, size) for step in steps) if end is not None)
        for square in range(size * size)
    ]


def _build_ray(square: int, direction: Step, size: int) -> tuple[int, ...]:
    ray = []
    following = shifted(square, direction, size)
    while following is not None:
        ray.append(following)
        following = shifted(following, direction, size)
    return tuple(ray)
