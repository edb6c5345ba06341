"""Divide by the judge: `python -m core.reference VARIANT DEPTH FEN` prints a move and its count."""

import argparse

from core.reference import caissa, chakra


def main() -> None:
    """Print the perft of DEPTH - 1 after each legal move, a line each."""
    parser = argparse.ArgumentParser(prog="python -m core.reference", description=__doc__)
    parser.add_argument("variant", choices=[*chakra.VARIANTS, *caissa.VARIANTS])
    parser.add_argument("depth", type=int)
    parser.add_argument("fen")
    args = parser.parse_args()
    game = chakra if args.variant in chakra.VARIANTS else caissa
    for move, state in sorted(game.successors(game.parse_fen(args.variant, args.fen)).items()):
        print(f"{move} {game.perft(state, args.depth - 1)}")  # noqa: T201


if __name__ == "__main__":
    main()
