"""A match played by the workers of a gateway, as a job of pairs."""

import click
import grpc.aio

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.cli.errors import JobNotDone
from gateway.cli.remote import call_gateway, conclude, job_bar
from gateway.cli.rows import find_error
from gateway.client import Client
from gateway.match import DEFAULT_HASH_MB
from gateway.match.tournament import Plan, Report, Round, Standing, is_decided
from tilewarp.v1 import analysis_pb2, jobs_pb2, match_pb2
from worker.games import format_terms, read_played_game

WORKERS = f"the workers' engine {ENGINE_VERSION}, rules {RULES_VERSION}"
"""What an engine of such a match calls itself: rows of other versions are refused."""


def specify(plan: Plan, standing: Standing) -> jobs_pb2.JobSpecification:
    """Return the job that plays what the standing lacks.

    A pair of which it has one game is played anew. Raises ValueError for what no job plays.
    """
    for spec in plan.engines:
        if spec.protocol != "builtin":
            raise ValueError(f"{spec.name}: a gateway's workers play as builtin engines alone")
        if "BookFile" in dict(spec.options):
            raise ValueError(f"{spec.name}: a gateway's workers have no books to play from")
    first, second = (_find_limits(plan, index) for index in (0, 1))
    work = match_pb2.MatchWork(
        variant=plan.variant,
        first=first,
        second=second,
        terms=format_terms(plan.terms),
        seed=plan.seed,
        pairs=_find_missing(plan, standing),
    )
    return jobs_pb2.JobSpecification(match=work)


def play_on_workers(
    plan: Plan,
    standing: Standing,
    report: Report,
    target: str,
    client_name: str | None,
    detach: bool,
) -> None:
    """Have the workers play what the standing lacks, as `play_match` does here.

    The job is cancelled when the test decides, and when this ends in any other way than by the loss
    of the service. With `detach` it is only begun.

    Raises:
        JobNotDone: the job was cancelled, failed or lost, pairs were given up, or the workers are
            of other versions.
    """
    specification = specify(plan, standing)
    if not specification.match.pairs or is_decided(plan, standing):
        return

    async def work(client: Client) -> None:
        job = await client.create_job(specification, [])
        click.echo(job.name, err=True)
        if detach:
            return
        try:
            failed = await _take_pairs(client, job.name, plan, standing, report)
        except grpc.aio.AioRpcError:
            raise
        except BaseException:
            await client.cancel_job(job.name)
            raise
        if is_decided(plan, standing):
            await client.cancel_job(job.name)
        else:
            await conclude(client, job.name, 0, failed, "pairs")

    call_gateway(target, client_name, work)


def _find_limits(plan: Plan, index: int) -> analysis_pb2.Limits:
    """Return the limits of an engine's moves as `tilewarp uci` would set them."""
    control = plan.find_control(index)
    if control.clock is not None:
        raise ValueError("--clock is for a match that is played here: workers keep no clocks")
    options = dict(plan.engines[index].options)
    threads = int(options.get("Threads", 1))
    limits = analysis_pb2.Limits(
        nodes=max(control.nodes, threads) if control.nodes is not None else 0,
        depth=control.depth or 0,
        threads=threads,
        hash_mb=int(options.get("Hash", DEFAULT_HASH_MB)),
    )
    if control.movetime is not None:
        limits.time.FromMilliseconds(control.movetime)
    return limits


def _find_missing(plan: Plan, standing: Standing) -> list[match_pb2.PairRange]:
    ranges: list[match_pb2.PairRange] = []
    for pair in range(1, plan.pairs + 1):
        if all(Round(pair, white) in standing for white in (0, 1)):
            continue
        if ranges and ranges[-1].first + ranges[-1].count == pair:
            ranges[-1].count += 1
        else:
            ranges.append(match_pb2.PairRange(first=pair, count=1))
    return ranges


async def _take_pairs(
    client: Client, name: str, plan: Plan, standing: Standing, report: Report
) -> int:
    """Add the pairs as they are finished until the test decides; return how many were given up."""
    failed = 0
    async with job_bar(client, name):
        async for row in client.stream_results(name, jobs_pb2.RESULT_ORDER_FINISHED):
            error = find_error(row)
            if error is not None:
                failed += 1
                click.echo(f"a pair is {error}", err=True)
                continue
            _add_pair(row.pair, standing, report)
            if is_decided(plan, standing):
                break
    return failed


def _add_pair(played: match_pb2.PlayedPair, standing: Standing, report: Report) -> None:
    source = played.provenance
    if (source.engine_version, source.rules_version) != (ENGINE_VERSION, RULES_VERSION):
        raise JobNotDone(
            f"worker {source.worker} has engine {source.engine_version} and rules "
            f"{source.rules_version}, not {ENGINE_VERSION} and {RULES_VERSION} as here"
        )
    for white, game in enumerate(played.games):
        task = Round(played.pair, white)
        if task not in standing:
            read = read_played_game(game, played.opening)
            standing.add(task, read)
            report(task, read)
