"""The `tilewarp` command: finds each subcommand's module when it is called, and no sooner."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

import click

from gateway.cli.errors import INTERRUPTED

# name: (module, one line of help); the module's attribute of that name is the command.
COMMANDS = {
    "variants": ("gateway.cli.local", "List the variants and their rules."),
    "moves": ("gateway.cli.local", "List the legal moves of a position."),
    "play": ("gateway.cli.local", "Play moves from a position."),
    "board": ("gateway.cli.board", "Draw a position, on the terminal or as SVG."),
    "explain": ("gateway.cli.explain", "Tell the rule that allows or forbids a move."),
    "perft": ("gateway.cli.perft", "Count the move sequences from a position."),
    "perft-check": ("gateway.cli.perft", "Check a proof of a perft."),
    "search": ("gateway.cli.search", "Search a position in this process."),
    "bench": ("gateway.cli.local", "Show the search's signature for a fixed workload."),
    "warmup": ("gateway.cli.local", "Compile every kernel once."),
    "player": ("gateway.cli.player", "Play one game in the CodeCup protocol."),
    "uci": ("gateway.cli.uci", "Speak UCI on standard input and output."),
    "match": ("gateway.cli.match", "Play matches between engines."),
    "book": ("gateway.cli.book", "Grow, probe, exchange and report opening books."),
    "serve": ("gateway.cli.stack", "Run the whole service on this machine."),
    "doctor": ("gateway.cli.doctor", "Check a deployment, and say what to do."),
    "gateway": ("gateway.cli.stack", "Run a gateway."),
    "worker": ("gateway.cli.stack", "Run a worker."),
    "keys": ("gateway.cli.keys", "Create, list and revoke API keys."),
    "health": ("gateway.cli.health", "Tell whether a gateway serves."),
    "analyse": ("gateway.cli.analyse", "Analyse a file of positions through a gateway."),
    "adjudicate": ("gateway.cli.adjudicate", "Tell what became of the games of a file."),
    "jobs": (
        "gateway.cli.jobs",
        "List, show, watch, pause and cancel jobs, and print their results.",
    ),
}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only to run it, so that help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an interrupt ends with the exit code that shells give it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def _print_versions(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from core.version import ENGINE_VERSION, RULES_VERSION

    click.echo(f"tilewarp {version('tilewarp')} (engine {ENGINE_VERSION}, rules {RULES_VERSION})")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Show the product's, the engine's and the rules' versions.",
)
def main() -> None:
    """Analyse Chakra and Caïssa, the chess games by Christian Freeling."""


if __name__ == "__main__":
    main(prog_name="tilewarp")
