"""How a command ends when it did not do what was asked: one line on standard error, a code."""

import click

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class WrongInput(click.ClickException):
    """What was given is wrong."""

    exit_code = 2


class JobNotDone(click.ClickException):
    """The job failed, was lost or was cancelled."""

    exit_code = 1


class Differ(click.ClickException):
    """Two generators do not agree."""

    exit_code = 1


class ServiceAway(click.ClickException):
    """The service cannot be reached."""

    exit_code = 3
