"""The reference against the golden data, against its own symmetries, and rule by rule."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from core.reference import caissa, chakra

TESTS = Path(__file__).parent.parent
GOLDEN = [
    json.loads(line)
    for line in (TESTS / "core/data/golden-positions.jsonl").read_text().splitlines()
]
CHAKRA_VARIANTS = list(chakra.VARIANTS)
CAISSA_VARIANTS = list(caissa.VARIANTS)
VARIANTS = CHAKRA_VARIANTS + CAISSA_VARIANTS
MAX_DEPTH = 2


def find_game(variant: str) -> ModuleType:
    return chakra if variant in chakra.VARIANTS else caissa


def read_perft_lines() -> Iterator[tuple[str, str, int, int]]:
    """Variant, FEN, depth and count of every line of the perft files up to MAX_DEPTH."""
    for path in sorted((TESTS / "perft").glob("*.perft")):
        variant, fen = path.stem, ""
        for line in path.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "fen":
                fen = find_game(variant).START_FENS[variant] if rest == "startpos" else rest
            elif word == "perft":
                depth, count = map(int, rest.split())
                if depth <= MAX_DEPTH:
                    yield variant, fen, depth, count


def find_faults(variant: str, fen: str) -> list[str]:
    with pytest.raises(ValueError, match=r"\w") as error:
        find_game(variant).parse_fen(variant, fen)
    return str(error.value.args[0]).split("; ")


def find_moves(fen: str, origin: str = "", variant: str = "chakra") -> set[str]:
    """The legal moves from a square, written without it; all moves in full without a square."""
    game = find_game(variant)
    moves = game.legal_moves(game.parse_fen(variant, fen))
    return {move.removeprefix(origin) for move in moves if move.startswith(origin)}


def find_following(fen: str, move: str, variant: str = "chakra") -> str:
    """The FEN after a move."""
    game = find_game(variant)
    return str(game.format_fen(game.make_move(game.parse_fen(variant, fen), move)))


def find_outcome(fen: str, variant: str = "chakra") -> str | None:
    game = find_game(variant)
    outcome: str | None = game.outcome([game.parse_fen(variant, fen)])
    return outcome


def is_check(fen: str, variant: str = "chakra") -> bool:
    game = find_game(variant)
    return bool(game.in_check(game.parse_fen(variant, fen)))


def squares(text: str) -> set[str]:
    return set(text.split())


# Golden data


@pytest.mark.parametrize("variant", VARIANTS)
def test_golden_positions_have_the_agreed_moves_check_and_result(variant: str) -> None:
    game = find_game(variant)
    rows = [row for row in GOLDEN if row["variant"] == variant]
    assert rows
    for row in rows:
        state = game.parse_fen(variant, row["fen"])
        assert game.format_fen(state) == row["fen"]
        assert game.legal_moves(state) == row["moves"], row
        assert (game.in_check(state), game.result(state)) == (row["check"], row["result"]), row


@pytest.mark.parametrize("variant", VARIANTS)
def test_golden_positions_have_the_agreed_perft(variant: str) -> None:
    game = find_game(variant)
    rows: list[dict[str, Any]] = [row for row in GOLDEN if row["variant"] == variant]
    for row in rows:
        state = game.parse_fen(variant, row["fen"])
        for depth, count in row.get("perft", {}).items():
            if int(depth) <= MAX_DEPTH:
                assert game.perft(state, int(depth)) == count, row


def test_perft_files_have_the_agreed_counts() -> None:
    lines = list(read_perft_lines())
    assert lines
    for variant, fen, depth, count in lines:
        game = find_game(variant)
        assert game.perft(game.parse_fen(variant, fen), depth) == count, (variant, fen, depth)


# Symmetries and random positions


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_states_are_valid_and_written_as_read(variant: str) -> None:
    game, rng = find_game(variant), random.Random(1)
    states = [game.random_state(rng, variant) for _ in range(60)]
    assert {state.side for state in states} == {"w", "b"}
    for state in states:
        assert game.parse_fen(variant, game.format_fen(state)) == state


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_legal_move_leads_to_a_valid_position(variant: str) -> None:
    game, rng = find_game(variant), random.Random(2)
    for _ in range(12):
        state = game.random_state(rng, variant)
        for move in game.legal_moves(state):
            following = game.make_move(state, move)
            assert game.parse_fen(variant, game.format_fen(following)) == following


@pytest.mark.parametrize("variant", VARIANTS)
def test_successors_are_the_positions_after_each_legal_move(variant: str) -> None:
    game, rng = find_game(variant), random.Random(8)
    for _ in range(12):
        state = game.random_state(rng, variant)
        moves = game.legal_moves(state)
        assert game.successors(state) == {move: game.make_move(state, move) for move in moves}


def sample_states(variant: str, seed: int) -> list[Any]:
    """Positions of two random games and random positions."""
    game, rng = find_game(variant), random.Random(seed)
    states = [state for _ in range(2) for state in game.random_game(rng, variant, 60)[::4]]
    return states + [game.random_state(rng, variant) for _ in range(40)]


@pytest.mark.parametrize("variant", CHAKRA_VARIANTS)
@pytest.mark.parametrize("symmetry", ["mirror", "swap"])
def test_chakra_moves_follow_the_symmetries(variant: str, symmetry: str) -> None:
    transform_fen = getattr(chakra, f"{symmetry}_fen")
    transform_move = getattr(chakra, f"{symmetry}_move")
    rng = random.Random(3)
    for state in sample_states(variant, 4):
        fen = chakra.format_fen(state)
        assert transform_fen(transform_fen(fen)) == fen
        image = chakra.parse_fen(variant, transform_fen(fen))
        moves = chakra.legal_moves(state)
        assert chakra.legal_moves(image) == sorted(map(transform_move, moves))
        assert chakra.in_check(image) == chakra.in_check(state)
        if moves:
            move = rng.choice(moves)
            following = chakra.format_fen(chakra.make_move(state, move))
            image_following = chakra.format_fen(chakra.make_move(image, transform_move(move)))
            # The full-move number is kept by the swap but counts Black's moves only.
            assert image_following.split()[:5] == transform_fen(following).split()[:5]


@pytest.mark.parametrize("variant", CAISSA_VARIANTS)
@pytest.mark.parametrize("n", range(8))
def test_caissa_moves_follow_the_symmetries_of_the_square(variant: str, n: int) -> None:
    rng = random.Random(5)
    for state in sample_states(variant, 6):
        fen = caissa.format_fen(state)
        image = caissa.parse_fen(variant, caissa.transform_fen(fen, n))
        moves = caissa.legal_moves(state)
        images = {move: caissa.transform_move(move, n) for move in moves}
        assert caissa.legal_moves(image) == sorted(images.values())
        if moves:
            move = rng.choice(moves)
            following = caissa.format_fen(caissa.make_move(state, move))
            image_following = caissa.format_fen(caissa.make_move(image, images[move]))
            assert image_following == caissa.transform_fen(following, n)


def test_the_eight_symmetries_differ_and_the_first_changes_nothing() -> None:
    assert caissa.transform_move("a1b3", 0) == "a1b3"
    images = {caissa.transform_move("a1b3", n) for n in range(8)}
    assert images == squares("a1b3 a1c2 g1f3 g1e2 a7b5 a7c6 g7f5 g7e6")


@pytest.mark.parametrize("variant", CAISSA_VARIANTS)
def test_caissa_moves_stay_when_colours_are_exchanged(variant: str) -> None:
    for state in sample_states(variant, 7):
        fen = caissa.format_fen(state)
        image = caissa.parse_fen(variant, caissa.swap_fen(fen))
        assert caissa.legal_moves(image) == caissa.legal_moves(state)
        assert caissa.swap_fen(caissa.swap_fen(fen)) == fen


def test_mirrored_and_swapped_chakra_text() -> None:
    fen = "7k/8/8/8/8/8/P7/K7 w b4n,a5k g2k,h2n 3 4"
    assert chakra.mirror_fen(fen) == "k7/8/8/8/8/8/7P/7K w g4n,h5k a2n,b2k 3 4"
    assert chakra.swap_fen(fen) == "k7/p7/8/8/8/8/8/7K b g7k,h7n a4k,b5n 3 4"
    assert [chakra.mirror_move(text) for text in ("a2b4f", "b7b8a")] == ["h2g4f", "g7g8a"]
    assert [chakra.swap_move(text) for text in ("a2b4f", "b7b8a")] == ["a7b5f", "b2b1a"]


# Chakra: pieces


def test_samurai_is_king_and_rook_or_king_and_knight() -> None:
    fen = "4k3/8/8/8/8/8/3K4/S7 w - - 0 1"
    rook = squares("a2 a3 a4 a5 a6 a7 a8 b1 c1 d1 e1 f1 g1 h1 b2")
    assert find_moves(fen, "a1") == rook
    assert find_moves(fen, "a1", "chakra-mindsports") == rook
    assert find_moves(fen, "a1", "chakra-pritchard") == squares("a2 b1 b2 b3 c2")


def test_monk_is_king_and_bishop() -> None:
    fen = "k7/8/8/8/8/8/7K/M7 w - - 0 1"
    assert find_moves(fen, "a1") == squares("a2 b1 b2 c3 d4 e5 f6 g7 h8")


def test_courtesan_who_does_not_see_her_king_moves_like_a_king() -> None:
    fen = "7k/8/8/8/8/8/1K6/3C4 w - - 0 1"
    assert find_moves(fen, "d1") == squares("c1 c2 d2 e1 e2")


def test_courtesan_moves_and_captures_along_the_line_on_which_she_sees_her_king() -> None:
    fen = "7k/8/8/8/8/8/8/1K1C1a2 w - - 0 1"
    assert find_moves(fen, "d1") == squares("c1 c2 d2 e1 e2 f1")


def test_courtesan_sees_an_adjacent_king() -> None:
    fen = "7k/8/8/8/8/8/8/1KC4a w - - 0 1"
    assert find_moves(fen, "c1") == squares("b2 c2 d2 d1 e1 f1 g1 h1")


def test_courtesan_sees_across_chakras_but_her_movement_stops_on_an_enemy_one() -> None:
    across_own = "7k/8/8/8/8/8/8/K3C3 w b1n,c1n - 0 1"
    assert squares("d1 f1 g1 h1") <= find_moves(across_own, "e1")
    across_enemy = "7k/8/8/8/8/8/8/K4C2 w - c1n,d7n 0 1"
    assert find_moves(across_enemy, "f1") == squares("c1 d1 e1 g1 h1 e2 f2 g2")


def test_pawn_double_step_from_the_second_rank() -> None:
    fen = "7k/8/8/8/8/8/3P4/K7 w - - 0 1"
    assert find_moves(fen, "d2") == {"d3", "d4"}
    assert find_moves(fen, "d2", "chakra-pritchard") == {"d3", "d4"}
    assert find_moves(fen, "d2", "chakra-mindsports") == {"d3"}


def test_pawn_double_step_passes_an_own_vacant_chakra_only() -> None:
    own = "7k/8/8/8/8/8/3P4/K7 w d3n,g3n - 0 1"
    assert find_moves(own, "d2") == {"d3", "d4", "g3"}
    enemy_before = "7k/8/8/8/8/8/3P4/K7 w - d3n,h6n 0 1"
    assert find_moves(enemy_before, "d2") == {"d3"}
    enemy_two_before = "7k/8/8/8/8/8/3P4/K7 w - d4n,h6n 0 1"
    assert find_moves(enemy_two_before, "d2") == {"d3", "d4"}
    piece_before = "7k/8/8/8/8/3a4/3P4/K7 w - - 0 1"
    assert find_moves(piece_before, "d2") == set()


def test_pawn_on_its_first_rank_steps_once() -> None:
    assert find_moves("7k/8/8/8/8/8/8/K2P4 w - - 0 1", "d1") == {"d2"}
    assert find_moves("k2p4/8/8/8/8/8/8/K7 b - - 0 1", "d8") == {"d7"}


def test_pawn_captures_diagonally_and_has_no_en_passant() -> None:
    fen = "7k/8/8/2aap3/3P4/8/8/K7 w - - 0 1"
    assert find_moves(fen, "d4") == {"c5", "e5"}
    after_double_step = "7k/8/8/3Pp3/8/8/8/K7 w - - 0 1"
    assert find_moves(after_double_step, "d5") == {"d6"}


# Chakra: the transmitter


def test_slider_passes_own_vacant_chakras_and_stops_on_enemy_ones() -> None:
    fen = "7k/8/8/8/8/8/1K6/M7 w - - 0 1"
    assert find_moves(fen, "a1") == squares("a2 b1")
    fen = "7k/8/1K6/8/8/S7/8/8 w a4n,e8n a6n,d3n 0 1"
    assert find_moves(fen, "a3") == squares("a2 a1 a4 a5 a6 e8 b2 b3 c3 d3 b4")


def test_vacant_chakra_of_the_opponent_interposes() -> None:
    assert is_check("k7/8/8/8/8/8/8/Q6K b - - 0 1")
    assert not is_check("k7/8/8/8/8/8/8/Q6K b - a5n,h5n 0 1")
    assert is_check("k7/8/8/8/8/8/8/Q6K b a5n,h5n - 0 1")
    assert "h6a4" not in find_moves("k7/8/8/8/8/8/8/Q6K b - h6n,g5n 0 1")
    assert find_moves("k7/8/8/8/8/8/8/Q6K b - c5n,g5n 0 1", "c5") == {"a4", "a4f", "a6", "a6f"}


def test_vacant_chakras_move_and_flip() -> None:
    fen = "7k/8/8/8/8/2P5/8/K7 w a2n,g7k b4k,h2n 0 1"
    assert find_moves(fen, "a2") == squares("a2f c1 c1f")
    assert find_moves(fen, "g7") == squares("g7f f6 f6f f7 f7f f8 f8f g6 g6f g8 g8f h6 h6f h7 h7f")
    assert find_following(fen, "a2c1f").split()[2] == "c1k,g7k"
    assert find_following(fen, "g7g7f").split()[2] == "a2n,g7n"


def test_occupied_chakra_neither_moves_nor_flips() -> None:
    fen = "7k/8/8/8/8/8/P7/K6a w a2n,h1n - 0 1"
    assert {move for move in find_moves(fen) if move[:2] in ("a2", "h1")} == {"a2a3", "a2a4"}


def test_transmission_is_optional_or_compulsory() -> None:
    fen = "7k/8/8/8/8/8/8/KA6 w c3n,f6n - 0 1"
    assert find_moves(fen, "b1") == squares("a3 c3 d2 f6")
    assert find_moves(fen, "b1", "chakra-mindsports") == squares("a3 d2 f6")


def test_transmission_captures_an_enemy_piece() -> None:
    fen = "7k/8/8/5c2/8/8/8/KA6 w c3n,f5n - 7 1"
    assert find_moves(fen, "b1") == squares("a3 c3 d2 f5")
    assert find_moves(fen, "b1", "chakra-mindsports") == squares("a3 d2 f5")
    assert find_following(fen, "b1f5") == "7k/8/8/5A2/8/8/8/K7 b c3n,f5n - 0 1"


def test_transmission_to_a_friendly_piece_is_impossible_so_the_piece_stays() -> None:
    fen = "7k/8/8/5P2/8/8/8/KA6 w c3n,f5n - 0 1"
    for variant in CHAKRA_VARIANTS:
        assert find_moves(fen, "b1", variant) == squares("a3 c3 d2")


def test_capture_on_an_occupied_chakra_does_not_transmit() -> None:
    fen = "7k/8/8/8/8/2p5/8/KA6 w c3n,f5n - 0 1"
    for variant in CHAKRA_VARIANTS:
        assert find_moves(fen, "b1", variant) == squares("a3 c3 d2")


def test_piece_covering_both_vacant_chakras_reaches_either() -> None:
    fen = "7k/8/8/8/8/8/8/KA6 w c3n,a3n - 0 1"
    for variant in CHAKRA_VARIANTS:
        assert find_moves(fen, "b1", variant) == squares("a3 c3 d2")


def test_piece_passes_by_transmission_back_to_its_own_chakra() -> None:
    fen = "7k/8/8/8/5A2/8/8/K7 w f4n,g6n - 5 9"
    others = squares("d3 d5 e2 e6 g2 h3 h5")
    assert find_moves(fen, "f4") == others | {"f4", "g6"}
    assert find_moves(fen, "f4", "chakra-mindsports") == others | {"f4"}
    assert find_following(fen, "f4f4") == "7k/8/8/8/5A2/8/8/K7 b f4n,g6n - 6 9"


def test_pass_must_not_leave_the_king_in_check() -> None:
    fen = "7k/8/8/8/5A2/8/8/K6s w f4n,g6n - 0 1"
    assert find_moves(fen, "f4") == set()


def test_pawn_captures_straight_ahead_through_the_transmitter() -> None:
    fen = "7k/8/8/5c2/8/8/1P6/K7 w b4n,f5n - 0 1"
    assert find_moves(fen, "b2") == squares("b3 b4 f5")
    assert find_moves(fen, "b2", "chakra-mindsports") == {"b3"}


def test_pawn_does_not_formally_move_diagonally_onto_a_vacant_chakra() -> None:
    fen = "7k/8/8/5c2/8/8/1P6/K7 w c3n,f5n - 0 1"
    assert find_moves(fen, "b2") == squares("b3 b4")


def test_pawn_stays_a_pawn_when_transmitted_from_the_last_rank() -> None:
    full = "7k/3P4/8/8/8/8/8/KQSMAACC w d8n,b4n - 0 1"
    assert find_moves(full, "d7") == {"b4"}
    one_lost = "7k/3P4/8/8/8/8/8/KQSMAAC1 w d8n,b4n - 0 1"
    assert find_moves(one_lost, "d7") == {"b4", "d8c"}
    assert find_moves(one_lost, "d7", "chakra-mindsports") == {"b4"}


def test_pawn_transmitted_to_its_last_rank_promotes() -> None:
    fen = "7k/8/8/8/8/2P5/8/KQSMA3 w c4n,b8n - 0 1"
    assert find_moves(fen, "c3") == squares("c4 b8a b8c")
    assert find_following(fen, "c3b8c").split()[0] == "1C5k/8/8/8/8/8/8/KQSMA3"


def test_compulsory_transmission_to_an_impossible_end_closes_the_chakra() -> None:
    nothing_lost = "7k/8/8/8/8/2P5/8/KQSMAACC w c4n,b8n - 0 1"
    assert find_moves(nothing_lost, "c3") == {"c4"}
    assert find_moves(nothing_lost, "c3", "chakra-mindsports") == set()
    king_in_check = "4s2k/8/8/8/8/8/8/K7 w b1n,e4n - 0 1"
    assert "b1" in find_moves(king_in_check, "a1")
    assert "e4" not in find_moves(king_in_check, "a1")
    assert find_moves(king_in_check, "a1", "chakra-mindsports") == {"a2", "b2"}


def test_attack_through_the_transmitter() -> None:
    for variant in CHAKRA_VARIANTS:
        assert is_check("8/8/5k2/8/8/8/8/KA6 b c3n,f6n - 0 1", variant)
    assert not is_check("8/8/5k2/8/8/2P5/8/KA6 b c3n,f6n - 0 1")


def test_king_gives_check_to_the_king_through_the_transmitter() -> None:
    vacant = "8/6k1/8/8/8/8/8/5K2 w c3n,g7n - 0 1"
    assert "e2" in find_moves(vacant, "c3")
    assert is_check(find_following(vacant, "c3e2"))


# Chakra: the king and the transmitter


def test_king_takes_the_transmitter_and_the_piece_on_the_other_chakra_stays() -> None:
    fen = "7k/8/8/4p3/8/8/8/K7 w - b2n,e5n 9 3"
    assert find_following(fen, "a1b2") == "7k/8/8/4p3/8/8/1K6/8 b - - 0 3"


def test_king_capturing_on_an_occupied_chakra_takes_only_the_piece() -> None:
    fen = "7k/8/8/8/8/8/1p6/K7 w - b2n,e5n 9 3"
    assert find_following(fen, "a1b2") == "7k/8/8/8/8/8/1K6/8 b - b2n,e5n 0 3"
    covered = "7k/8/8/8/3p4/8/1p6/K7 w - b2n,d3n 9 3"
    assert "b2" not in find_moves(covered, "a1")


def test_other_pieces_do_not_take_the_transmitter() -> None:
    fen = "7k/8/8/8/8/8/8/KA6 w - c3n,e5n 9 3"
    assert find_following(fen, "b1c3") == "7k/8/8/8/8/2A5/8/K7 b - c3n,e5n 10 3"


@pytest.mark.parametrize("on_chakra", ["8", "1p6"])
def test_guard(on_chakra: str) -> None:
    fen = f"8/8/8/4k3/8/8/{on_chakra}/K7 w - b2n,e5n 0 1"
    assert "b2" not in find_moves(fen, "a1")
    assert "b2" not in find_moves(fen, "a1", "chakra-pritchard")
    assert "b2" in find_moves(fen, "a1", "chakra-mindsports")


def test_king_is_transmitted_by_his_own_chakras() -> None:
    fen = "7k/8/8/8/8/8/8/K7 w b2n,e5n - 0 1"
    assert find_moves(fen, "a1") == squares("a2 b1 b2 e5")
    assert find_moves(fen, "a1", "chakra-mindsports") == squares("a2 b1 e5")


# Chakra: promotion


def test_promotion_to_lost_types_only() -> None:
    fen = "7k/3P4/8/8/8/8/8/KQ1MA1CC w - - 0 1"
    assert find_moves(fen, "d7") == {"d8s", "d8a"}


def test_pawn_without_a_promotion_type_may_not_move_but_gives_check() -> None:
    fen = "4k3/8/3P4/8/8/8/8/KQSMAACC w - - 0 1"
    assert find_moves(fen, "d6") == {"d7"}
    after = find_following(fen, "d6d7")
    assert is_check(after)
    assert find_moves("k7/3P4/8/8/8/8/8/KQSMAACC w - - 0 1", "d7") == set()
    transmitting = "4k3/2P5/8/8/8/8/8/KQSMAACC b c8n,e8n - 0 1"
    assert is_check(transmitting)


# Chakra: check, counters and the end


def test_kings_do_not_stand_side_by_side() -> None:
    assert find_moves("8/8/8/8/8/2k5/8/K7 w - - 0 1", "a1") == {"a2", "b1"}


def test_pinned_pieces_give_check() -> None:
    assert is_check("s7/8/8/8/S6k/8/8/K7 b - - 0 1")


def test_check_must_be_answered() -> None:
    fen = "s5k1/8/8/8/8/8/1Q6/K7 w - - 0 1"
    assert find_moves(fen) == squares("a1b1 b2a2 b2a3")


@pytest.mark.parametrize(
    ("move", "clock"),
    [("b1d2", 8), ("b1c3", 0), ("f2f3", 0), ("g4g4", 8), ("h8h8f", 8), ("h8f7", 8), ("a1b2", 0)],
    ids=["quiet", "capture", "pawn", "pawn-pass", "flip", "chakra-move", "takes-transmitter"],
)
def test_half_move_clock(move: str, clock: int) -> None:
    fen = "2k5/8/8/8/6P1/2a5/5P2/KA6 w g4n,g5n b2n,e8n 7 1"
    if move.startswith("h8"):
        fen = fen.replace("g4n,g5n", "a4n,h8n")
    assert find_following(fen, move).split()[4] == str(clock)


def test_counters_saturate() -> None:
    fen = "7k/8/8/8/8/8/8/K7 b - - 9999 9999"
    assert find_following(fen, "h8g8").endswith(" 9999 9999")
    fen = "4q1b/7/7/7/7/7/R2Q3 b - 9999 9999"
    assert find_following(fen, "g7f6", "caissa").endswith(" 9999 9999")


def test_full_moves_count_after_black() -> None:
    assert find_following("7k/8/8/8/8/8/8/K7 w - - 0 5", "a1a2").endswith(" 1 5")
    assert find_following("7k/8/8/8/8/8/8/K7 b - - 0 5", "h8g8").endswith(" 1 6")


def test_checkmate_comes_before_draws() -> None:
    assert find_outcome("k7/1Q6/1K6/8/8/8/8/8 b - - 100 80") == "checkmate"


def test_stalemate() -> None:
    fen = "k7/8/1Q6/8/8/8/8/7K b - - 0 1"
    assert find_outcome(fen) == "stalemate"
    assert find_outcome(fen.replace("- - 0", "- d4n,e4n 0")) is None


def test_move_limit() -> None:
    assert find_outcome("k7/8/8/8/8/8/8/1Q5K w - - 99 80") is None
    assert find_outcome("k7/8/8/8/8/8/8/1Q5K w - - 100 80") == "move-limit"


def test_bare_kings_without_chakras_are_a_draw() -> None:
    assert find_outcome("k7/8/8/8/8/8/8/7K w - - 0 1") == "insufficient"
    assert find_outcome("k7/8/8/8/8/8/8/7K w c4n,c5n - 0 1") is None


def test_third_occurrence_is_a_draw() -> None:
    states = [chakra.parse_fen("chakra", "7k/8/8/8/8/8/8/K7 w d4n,e5n - 0 1")]
    for move in ["a1a2", "h8h7", "a2a1", "h7h8"] * 2:
        assert chakra.outcome(states) is None
        states.append(chakra.make_move(states[-1], move))
    assert chakra.outcome(states) == "repetition"


def test_chakra_modes_distinguish_positions() -> None:
    fen = "7k/8/8/8/8/8/8/K7 w d4{},e5n - 0 1"
    knight, king = (chakra.parse_fen("chakra", fen.format(mode)) for mode in "nk")
    assert chakra.outcome([knight, knight, king]) is None
    assert chakra.outcome([king, knight, king, king]) == "repetition"


@pytest.mark.parametrize("variant", VARIANTS)
def test_illegal_moves_are_refused(variant: str) -> None:
    game = find_game(variant)
    start = game.parse_fen(variant, game.START_FENS[variant])
    for text in ("", "a1a1", "e1e8", "E1E2", "b2b5", "zz"):
        with pytest.raises(ValueError, match="illegal move"):
            game.make_move(start, text)


# Chakra: FEN


def test_chakra_fen_is_read_leniently_and_written_canonically() -> None:
    state = chakra.parse_fen("chakra", "44/7k/8/8/8/1111K111/8/8  w h2k,a2n - 0007   01")
    assert chakra.format_fen(state) == "8/7k/8/8/8/4K3/8/8 w a2n,h2k - 7 1"


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        ("7k/8/8/8/8/8/8/K7 w - - 0", "FEN has 5 fields, not 6"),
        ("7k/8/8/8/8/8/K7 w - - 0 1", "board has 7 ranks, not 8"),
        ("7k/9/8/8/8/8/8/K7 w - - 0 1", "board has an unknown character '9'"),
        ("7k/8/8/8/8/8/8/K6N w - - 0 1", "board has an unknown character 'N'"),
        ("7k/7/8/8/8/8/8/K7 w - - 0 1", "board rank 7 ('7') has 7 squares, not 8"),
        ("7k/8/8/8/8/8/8/K8 w - - 0 1", "board rank 1 ('K8') has 9 squares, not 8"),
        ("7k/8/8/8/8/8/8/K7 W - - 0 1", "side to move 'W' is neither w nor b"),
        ("7k/8/8/8/8/8/8/K7 w a2n - 0 1", "white has 1 chakras, not none or two"),
        ("7k/8/8/8/8/8/8/K7 w a2n,b2n,c2n - 0 1", "white has 3 chakras, not none or two"),
        ("7k/8/8/8/8/8/8/K7 w - a2n,a2k 0 1", "black chakras 'a2n,a2k' are on one square"),
        ("7k/8/8/8/8/8/8/K7 w a2n,b2n c2n,a2n 0 1", "a2 holds two chakras"),
        ("7k/8/8/8/8/8/8/K7 w a2x,b2n - 0 1", "white chakra 'a2x' is not a square and a mode"),
        ("7k/8/8/8/8/8/8/K7 w a9n,b2n - 0 1", "white chakra 'a9n' is not a square and a mode"),
        ("7k/8/8/8/8/8/8/K7 w - - x 1", "half-move clock 'x' is not a number"),
        ("7k/8/8/8/8/8/8/K7 w - - -1 1", "half-move clock '-1' is not a number"),
        ("7k/8/8/8/8/8/8/K7 w - - \u0661 1", "half-move clock '\u0661' is not a number"),
        ("7k/8/8/8/8/8/8/K7 w - - 10000 1", "half-move clock '10000' is not a number"),
        ("7k/8/8/8/8/8/8/K7 w - - 0 0", "full-move number 0 is below 1"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "black has 0 kings, not 1"),
        ("7k/8/8/8/8/8/8/K1K5 w - - 0 1", "white has 2 kings, not 1"),
        ("7k/8/8/8/8/A7/AAAAAAAA/KAAAAAAA w - - 0 1", "white has 17 pieces, more than 16"),
        ("P6k/8/8/8/8/8/8/K7 w - - 0 1", "white pawn on its own last rank, on a8"),
        ("7k/8/8/8/8/8/8/K1p5 w - - 0 1", "black pawn on its own last rank, on c1"),
        ("7k/8/8/8/8/8/8/K6Q w - - 0 1", "the side not to move is in check"),
        ("8/8/5k2/8/8/8/8/KA6 w c3n,f6n - 0 1", "the side not to move is in check"),
        ("8/8/8/8/8/8/1k6/K7 w - - 0 1", "the side not to move is in check"),
    ],
)
def test_chakra_fen_is_refused(fen: str, fault: str) -> None:
    (found,) = find_faults("chakra", fen)
    assert found.startswith(fault)


def test_every_fault_is_reported() -> None:
    fen = "8/9/8/8/8/8/8/K7 x a2n - x 0"
    assert len(find_faults("chakra", fen)) == 5
    fen = "P7/8/8/8/8/8/8/K7 x a2n - x 0"
    assert len(find_faults("chakra", fen)) == 6
    fen = "**5/3bqn1/4r2/7/2RR3/1NQB3/8 x d4 x 0"
    assert len(find_faults("caissa", fen)) == 5


def test_unknown_variant_is_refused() -> None:
    for game in (chakra, caissa):
        with pytest.raises(ValueError, match="unknown variant 'chess'"):
            game.parse_fen("chess", "")


# Caissa: moves


def test_queen_removes_the_tile_she_leaves() -> None:
    fen = "4q2/7/7/7/7/7/3Q3 w - 5 1"
    assert find_following(fen, "d1c2", "caissa") == "4q2/7/7/7/7/2Q4/3*3 b - 0 1"


def test_queen_slides_over_holes_and_ends_on_tiles() -> None:
    fen = "5q1/7/7/3*3/7/*6/1*1Q3 w - 0 1"
    assert find_moves(fen, "d1", "caissa") == squares("a1 c1 e1 g1 c2 a4 d2 d3 d6 e2 g4")


def test_queen_captures_and_never_takes_a_friend() -> None:
    fen = "5q1/7/7/7/7/3n3/2BQ3 w - 0 1"
    assert "d2" in find_moves(fen, "d1", "caissa")
    assert "c1" not in find_moves(fen, "d1", "caissa")
    assert find_following(fen, "d1d2", "caissa") == "5q1/7/7/7/7/3Q3/2B*3 b - 0 1"


def test_queen_in_check_makes_one_step() -> None:
    fen = "5q1/7/7/7/7/7/r2Q3 w - 0 1"
    assert is_check(fen, "caissa")
    assert find_moves(fen, variant="caissa") == squares("d1c2 d1d2 d1e2")


def test_check_passes_over_holes() -> None:
    assert is_check("5q1/7/7/7/7/7/r*1Q3 w - 0 1", "caissa")
    assert not is_check("5q1/7/7/7/7/7/rB1Q3 w - 0 1", "caissa")


def test_queens_must_not_come_to_see_each_other() -> None:
    fen = "3q3/7/7/3B3/7/7/3Q3 w - 0 1"
    assert find_moves(fen, "d4", "caissa") == set()
    assert find_moves(fen, "d1", "caissa") == squares("a1 b1 c1 e1 f1 g1 c2 b3 d2 d3 e2 f3")
    over_holes = "3q3/7/3*3/3B3/3*3/7/3Q3 w - 0 1"
    assert find_moves(over_holes, "d4", "caissa") == set()


def test_connection_rule() -> None:
    rows = "*******/*******/*******/*******/*******/****q**/{} w - 0 1"
    assert find_moves(rows.format("2Q4"), variant="caissa") == set()  # she would split the row
    assert (
        find_moves(rows.format("QN5"), "b1", "caissa") == set()
    )  # so would the knight with its tile
    assert find_moves(rows.format("Q6"), "a1", "caissa") == squares("b1 c1 g1")


def test_piece_takes_its_tile_along_to_a_hole() -> None:
    fen = "5q1/7/7/7/*6/7/R2Q3 w - 3 1"
    assert find_following(fen, "a1a3", "caissa") == "5q1/7/7/7/R6/7/*2Q3 b - 4 1"
    assert {"a2", "a3", "a4", "a7"} <= find_moves(fen, "a1", "caissa")


def test_friends_exchange_but_not_with_the_own_queen() -> None:
    fen = "5q1/7/7/7/7/7/R1BQ3 w - 0 1"
    assert find_following(fen, "a1c1", "caissa") == "5q1/7/7/7/7/7/B1RQ3 b - 1 1"
    alone = "5q1/7/7/7/7/7/R2Q3 w - 0 1"
    assert "d1" not in find_moves(alone, "a1", "caissa")


def test_enemies_of_different_types_exchange_without_ko() -> None:
    fen = "5q1/7/7/b6/7/7/R3Q2 w - 0 1"
    assert find_following(fen, "a1a4", "caissa") == "5q1/7/7/R6/7/7/b3Q2 b - 1 1"


def test_exchange_of_the_same_type_makes_a_ko() -> None:
    fen = "5q1/7/7/r6/7/1B2Q2/R6 w - 0 1"
    after = find_following(fen, "a1a4", "caissa")
    assert after == "5q1/7/7/R6/7/1B2Q2/r6 b a1a4 1 1"
    assert "a1a4" not in find_moves(after, variant="caissa")
    assert "a1a4" in find_moves(after.replace("a1a4", "-"), variant="caissa")


def test_ko_is_free_a_move_later() -> None:
    state = caissa.parse_fen("caissa", "5q1/7/7/R6/7/1B2Q2/r6 b a1a4 1 1")
    for move in ("f7f5", "b2c3"):
        state = caissa.make_move(state, move)
        assert state.ko is None
    assert "a1a4" in caissa.legal_moves(state)


def test_ko_distinguishes_positions() -> None:
    fen = "5q1/7/7/R6/7/1B2Q2/r6 b {} 1 1"
    with_ko = caissa.parse_fen("caissa", fen.format("a1a4"))
    without = caissa.parse_fen("caissa", fen.format("-"))
    assert caissa.outcome([without, without, with_ko]) is None
    assert caissa.outcome([without, without, without]) == "repetition"


def test_caissa_clock_counts_since_the_last_queen_move() -> None:
    fen = "5q1/7/7/7/7/1b5/R2Q3 w - 7 1"
    assert find_following(fen, "a1a2", "caissa").split()[3] == "8"
    assert find_following(fen, "d1d2", "caissa").split()[3] == "0"


# Caissa: the end


def test_codecup_limit() -> None:
    for counters, expected in (("0 100", None), ("0 101", "move-limit")):
        fen = f"5q1/7/7/7/7/7/R3Q2 w - {counters}"
        assert find_outcome(fen, "caissa-codecup") == expected
        assert find_outcome(fen, "caissa") is None
    black = "5q1/7/7/7/7/7/R3Q2 b - 0 100"
    assert find_outcome(black, "caissa-codecup") is None


def test_caissa_ends_of_the_golden_positions() -> None:
    """Checkmate and stalemate come before every draw."""
    ended = [row for row in GOLDEN if row["variant"].startswith("caissa") and row["result"]]
    assert {row["result"] for row in ended} == {"checkmate", "stalemate"}
    for row in ended:
        board, side, ko, _, _ = row["fen"].split()
        fen = f"{board} {side} {ko} 0 9999"
        assert find_outcome(fen, "caissa-codecup") == row["result"]


def test_two_queens_alone_are_a_draw() -> None:
    assert find_outcome("5q1/7/7/7/7/7/4Q2 w - 0 1", "caissa") == "insufficient"
    assert find_outcome("5q1/7/7/7/7/7/4Q1b w - 0 1", "caissa") is None


def test_pritchard_start_is_any_valid_placement() -> None:
    fen = "qnb3r/7/7/7/7/7/NRB2Q1 w - 0 1"
    assert caissa.format_fen(caissa.parse_fen("caissa-pritchard", fen)) == fen


# Caissa: FEN


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        ("5q1/7/7/7/7/7/4Q2 w - 0", "FEN has 4 fields, not 5"),
        ("5q1/7/7/7/7/4Q2 w - 0 1", "board has 6 ranks, not 7"),
        ("5q1/7/7/7/7/7/4Q2/7 w - 0 1", "board has 8 ranks, not 7"),
        ("5q1/8/7/7/7/7/4Q2 w - 0 1", "board has an unknown character '8'"),
        ("5q1/7/7/7/7/7/4Q1K w - 0 1", "board has an unknown character 'K'"),
        ("5q1/6/7/7/7/7/4Q2 w - 0 1", "board rank 6 ('6') has 6 squares, not 7"),
        ("5q1/7/7/7/7/7/4Q2 - - 0 1", "side to move '-' is neither w nor b"),
        ("5q1/7/7/7/7/7/4Q2 w - 0 x", "full-move number 'x' is not a number"),
        ("5q1/7/7/7/7/7/7 w - 0 1", "white has 0 queens, not 1"),
        ("5q1/7/7/7/7/7/RR2Q2 w - 0 1", "white has 2 pieces R, more than 1"),
        ("5q1/7/7/7/7/7/b1b1Q2 w - 0 1", "black has 2 pieces b, more than 1"),
        ("4q2/7/7/7/7/7/4Q2 w - 0 1", "the queens see each other"),
        ("4q2/7/4*2/7/7/7/4Q2 w - 0 1", "the queens see each other"),
        ("5q1/*******/7/7/7/7/4Q2 w - 0 1", "the tiles are not connected"),
        ("R4q1/7/7/7/7/7/4Q2 w - 0 1", "the side not to move is in check"),
        ("5q1/7/7/R6/7/1B2Q2/r6 b a1 1 1", "ko 'a1' is neither - nor two squares"),
        ("5q1/7/7/R6/7/1B2Q2/r6 b a1a8 1 1", "ko 'a1a8' is neither - nor two squares"),
        ("5q1/7/7/R6/7/1B2Q2/r6 b a4a1 1 1", "ko 'a4a1' is not a possible exchange"),
        ("5q1/7/7/R6/N6/1B2Q2/r6 b a1a4 1 1", "ko 'a1a4' is not a possible exchange"),
        ("5q1/7/7/B6/7/1R2Q2/r6 b a1a4 1 1", "ko 'a1a4' is not a possible exchange"),
        ("5q1/7/7/1R5/7/7/r1B1Q2 b a1b4 1 1", "ko 'a1b4' is not a possible exchange"),
    ],
)
def test_caissa_fen_is_refused(fen: str, fault: str) -> None:
    (found,) = find_faults("caissa", fen)
    assert found.startswith(fault)
