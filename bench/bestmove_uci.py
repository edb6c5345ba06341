"""A UCI engine of a program that is called anew for each of its moves.

    python bench/bestmove_uci.py PROGRAM VARIANT

PROGRAM is called as `PROGRAM VARIANT bestmove MS startpos MOVE…` and prints its move first, maybe
after the word `bestmove`. Of `go` only `movetime` is understood.
"""

import subprocess
import sys


def choose(program: str, variant: str, movetime: str, moves: list[str]) -> str:
    command = [program, variant, "bestmove", movetime, "startpos", *moves]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.removeprefix("bestmove").split()[0]


def main() -> None:
    program, variant = sys.argv[1:]
    moves: list[str] = []
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                print(f"id name {program}\nuciok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position", "startpos", *rest]:
                moves = rest[1:]
            case ["go", "movetime", movetime]:
                print("bestmove", choose(program, variant, movetime, moves), flush=True)
            case ["go", *words]:
                sys.exit(f"go {' '.join(words)}: only movetime is understood")
            case ["quit"]:
                break


if __name__ == "__main__":
    main()
