"""A player for tests that does as it is told: `fake.py PROTOCOL BEHAVIOUR MOVE…`.

It has the moves of one game by heart, and plays those of its side. BEHAVIOUR at its first move:
`well`; `crash`, `hang` (deaf to SIGTERM), `illegal`, `nonsense`, `late` (by half a second), `child`
(hangs, with a child that hangs), `flood` (says much, and never its move). Before: `mute` (says
nothing from the start), `early` (ends).
"""

import os
import signal
import subprocess
import sys
import time


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def choose(behaviour: str, line: list[str], ply: int) -> str:
    if behaviour == "crash":
        sys.stderr.write("first words\nlast words\n")
        sys.exit(3)
    if behaviour in ("hang", "child"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if behaviour == "child":
            subprocess.Popen([*sys.orig_argv[: -len(line) - 1], "mute"])
        time.sleep(600)
    while behaviour == "flood":
        say("info string of nothing\n" * 100)
    if behaviour == "late":
        time.sleep(0.5)
    return {"illegal": "a1b1", "nonsense": "re\x07sign"}.get(behaviour) or line[ply]


def speak_uci(behaviour: str, line: list[str]) -> None:
    ply = 0
    for text in sys.stdin:
        match text.split():
            case ["uci"]:
                say(f"id name fake {behaviour}\nuciok")
            case ["isready"]:
                say("readyok")
            case ["position", "startpos", *words]:
                ply = len(words[1:])
            case ["go", *_]:
                say("info depth 1 multipv 1 score cp 9 pv\ninfo depth 2 score mate -2")
                say("info depth 2 multipv 2 score cp -7")
                say(f"bestmove {choose(behaviour, line, ply)}")
            case ["quit"]:
                return


def speak_codecup(behaviour: str, line: list[str]) -> None:
    ply = -1
    for text in sys.stdin:
        if text.strip() == "end":
            return
        ply += 1 if text.strip() == "start" else 2
        move = choose(behaviour, line, ply)
        say(f"{move[:2]}-{move[2:]}")


def main() -> None:
    protocol, behaviour, *line = sys.argv[1:]
    if behaviour == "mute":
        time.sleep(600)
    if behaviour == "early":
        os._exit(4)
    (speak_uci if protocol == "uci" else speak_codecup)(behaviour, line)


if __name__ == "__main__":
    main()
