"""Images of positions under the symmetries of their game. Generic; knows no game.

A symmetry maps the squares of the board onto each other, and may exchange the sides. The legal
moves of an image are the images of the legal moves.
"""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, load_word, store_word
from core.rules import generate_moves, make_move, unmake_move, write_image


@generic
def write_least_image(S: Any, D: Any, T: Any, count: Any) -> Any:
    """Write into D the image of S with the least pair of keys, and return its symmetry.

    Among the first `count` symmetries; the first of them where several give that image.
    """
    least, key, key2 = U0, U0, U0
    for index in range(count):
        symmetry = np.uint64(index)
        write_image(S, D, T, symmetry)
        if symmetry == U0 or D.key < key or (D.key == key and D.key2 < key2):
            least, key, key2 = symmetry, D.key, D.key2
    if least != count - U1:
        write_image(S, D, T, least)
    return least


@generic
def write_children(S: Any, D: Any, T: Any, count: Any, source: Any, target: Any, words: Any) -> Any:
    """Write the position after each legal move of S, as its least image, one after another.

    Each goes to the address `target` with `words` words, by way of D, which lies at the address
    `source`. The counters of moves, on which no legal move depends, are those of a game's start.
    Returns the number of moves.
    """
    ply = S.ply
    moves = generate_moves(S, T)
    for index in range(moves):
        make_move(S, T, S.moves[ply, index])
        write_least_image(S, D, T, count)
        unmake_move(S, T)
        D.halfmove = U0
        D.fullmove = U1
        D.reversible = U0
        first = np.uint64(index) * words
        for word in range(words):
            place = np.uint64(word)
            store_word(target, first + place, load_word(source, place))
    return moves
