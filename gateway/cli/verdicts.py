"""Verdicts on games as the command line shows them: JSON objects, or lines of a table."""

from typing import Any

from core.adjudication import Standing
from core.notation import escape_text
from gateway.cli.rows import find_error, provenance_object, score_object, score_text
from tilewarp.v1 import adjudication_pb2, jobs_pb2

VERDICT_HEADER = f"{'line':>6} {'result':<7} {'ply':>4} {'reason':<12}  game and evidence"
MAX_NAME = 30
"""Characters of a player's name in a table."""
MAX_TABLE = 20
"""Players of whom each meeting with each other is shown; JSON has them all."""


def verdict_object(row: jobs_pb2.ResultRow) -> dict[str, Any]:
    """Return what became of a game, as fields of its JSON object."""
    error = find_error(row)
    if error is not None:
        return {"fen": row.fen, "error": error}
    found = row.adjudication
    illegal = None
    if found.HasField("illegal"):
        illegal = {
            "move": found.illegal.move,
            "rule": found.illegal.rule,
            "why": found.illegal.why,
            "legal_moves": list(found.illegal.legal_moves),
        }
    return {
        "fen": row.fen,
        "result": found.result,
        "reason": found.reason,
        "ply": found.ply,
        "certain": found.certain,
        "recorded": found.recorded,
        "contradicted": found.contradicted,
        "extra_plies": found.extra_plies,
        "illegal": illegal,
        "evidence": [_evidence_object(evidence) for evidence in found.evidence],
        "nodes": found.nodes,
        "provenance": provenance_object(found.provenance),
    }


def verdict_text(row: jobs_pb2.ResultRow, line: int, players: tuple[str, str] | None) -> str:
    """Return a game's row as a line of the table under VERDICT_HEADER."""
    error = find_error(row)
    if error is not None:
        return f"{line:>6} error: {error}"
    found = row.adjudication
    game = " - ".join(escape_text(name, MAX_NAME) for name in players or ()) or row.fen
    text = f"{line:>6} {found.result:<7} {found.ply:>4} {found.reason:<12}  {game}"
    if found.contradicted:
        text += f"; the record says {found.recorded}"
    if found.extra_plies:
        text += f"; {found.extra_plies} plies after the end"
    if found.HasField("illegal"):
        text += f"; {found.illegal.move}: {found.illegal.why}; in {row.fen}"
    scores = [f"{score_text(one.score)} at ply {one.ply}" for one in found.evidence]
    return text + (f"; {', '.join(scores)}" if scores else "")


def standings_object(standings: list[Standing], undecided: int) -> dict[str, Any]:
    """Return the standings of a file as the JSON object that ends its rows."""
    rows = [
        {
            "player": one.player,
            "points": one.points,
            "games": one.games,
            "won": one.won,
            "drawn": one.drawn,
            "lost": one.lost,
            "against": {
                name: {"points": points, "games": games}
                for name, (points, games) in sorted(one.against.items())
            },
        }
        for one in standings
    ]
    return {"standings": rows, "undecided": undecided}


def standings_text(standings: list[Standing], undecided: int) -> str:
    """Return the standings as a table, with each meeting where there are few players."""
    shown = standings if len(standings) <= MAX_TABLE else []
    names = [escape_text(one.player, MAX_NAME) for one in standings]
    width = max(map(len, [*names, "player"]))
    head = f"{'':>4} {'player':<{width}} {'points':>7} {'games':>6} {'+':>5} {'=':>5} {'-':>5}"
    lines = [head + "".join(f" {rank:>7}" for rank in range(1, len(shown) + 1))]
    for rank, (name, one) in enumerate(zip(names, standings, strict=True), 1):
        text = f"{rank:>3}. {name:<{width}} {one.points:>7g} {one.games:>6} "
        text += f"{one.won:>5} {one.drawn:>5} {one.lost:>5}"
        lines.append(text + "".join(f" {_meeting_text(one, other):>7}" for other in shown))
    return "\n".join([*lines, f"undecided: {undecided}"])


def _meeting_text(one: Standing, other: Standing) -> str:
    if other.player not in one.against:
        return "-"
    points, games = one.against[other.player]
    return f"{points:g}/{games}"


def _evidence_object(evidence: adjudication_pb2.ScoreEvidence) -> dict[str, Any]:
    return {
        "ply": evidence.ply,
        "score": score_object(evidence.score),
        "depth": evidence.depth if evidence.HasField("depth") else None,
        "nodes": evidence.nodes if evidence.HasField("nodes") else None,
    }
