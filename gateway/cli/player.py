"""`tilewarp player`: a game in the protocol of the CodeCup contests."""

import signal
import sys
from pathlib import Path

import click

from core.limits import MAX_HASH_MB, MAX_THREADS
from core.notation import UnknownVariant
from gateway.book.book import BookError
from gateway.book.choice import BookChooser
from gateway.book.file import read_book
from gateway.cli.errors import WrongInput
from gateway.cli.lines import read_lines
from gateway.match import DEFAULT_HASH_MB
from gateway.match.player import CodecupPlayer, UnreadableLine


@click.command()
@click.argument("variant")
@click.option(
    "--clock",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Think no longer than this in a whole game.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    default=1,
    show_default=True,
    metavar="N",
    help="Search on N threads.",
)
@click.option(
    "--hash-mb",
    type=click.IntRange(1, MAX_HASH_MB),
    default=DEFAULT_HASH_MB,
    show_default=True,
    metavar="MB",
    help="Size of the transposition table.",
)
@click.option(
    "--book",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Play from this book as long as it has moves.",
)
@click.option(
    "--book-seed",
    type=int,
    metavar="N",
    help="Choose among good book moves by chance; without, the best.",
)
def player(
    variant: str,
    clock: float,
    threads: int,
    hash_mb: int,
    book: Path | None,
    book_seed: int | None,
) -> None:
    """Play one game in the CodeCup protocol on standard input and output.

    The first line is `start`, for the first move, or the other side's first move; each line is
    answered with a move such as b2-c4 or a2-b4f; `end` or `quit` ends the game.
    """
    # Python would hear of an interrupt only after the search.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        chooser = BookChooser(read_book(book, variant), book_seed) if book else None
        running = CodecupPlayer(variant, clock, threads, hash_mb, chooser)
        running.run((text for _, text in read_lines(sys.stdin.buffer)), click.echo)
    except BookError as error:
        raise WrongInput(f"{book}: {error}") from error
    except (UnknownVariant, UnreadableLine) as error:
        raise WrongInput(str(error)) from error
