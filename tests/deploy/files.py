"""What the deployment files start: each part's command, its environment and the time to end."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
REDIS_URL = "redis://store:6379/0"
"""What stands for the address that a deployment's secret holds."""
LIMITS = {"limits.cpu": "2"}


@dataclass(frozen=True)
class Part:
    """A part of the service, as one deployment starts it."""

    arguments: list[str]
    """Of `tilewarp`."""
    environment: dict[str, str]
    grace: float
    """Seconds between the wish that it ends and its end by force."""


def read_yaml(name: str) -> list[Any]:
    """Return the documents of a file."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def find_instructions(word: str) -> list[str]:
    """Return what follows an instruction of the Dockerfile, each time it stands there."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return re.findall(rf"^{word} (.*)$", text, re.M)


def image_list(word: str) -> list[str]:
    """Return the list after the last instruction of this name."""
    words: list[str] = json.loads(re.sub(r"^[^\[]*", "", find_instructions(word)[-1]))
    return words


def compose_part(name: str) -> Part:
    """Return a service of compose.yaml."""
    (file,) = read_yaml("compose.yaml")
    service = file["services"][name]
    environment = {
        name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", text)
        for name, text in service["environment"].items()
    }
    return Part(service["command"], environment, parse_seconds(service["stop_grace_period"]))


def kubernetes_part(name: str) -> Part:
    """Return the container of a deployment."""
    (deployment,) = [d for d in read_yaml(f"kubernetes/{name}.yaml") if d["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    environment = {entry["name"]: _value(entry) for entry in container["env"]}
    return Part(container["args"], environment, pod["terminationGracePeriodSeconds"])


def systemd_part(name: str) -> Part:
    """Return the process of a unit."""
    unit = (DEPLOY / f"systemd/tilewarp-{name}.service").read_text()
    fields = dict(re.findall(r"^(\w+)=(.*)$", unit, re.M))
    program, *arguments = shlex.split(fields["ExecStart"])
    assert Path(program).name == "tilewarp"
    assert Path(fields["EnvironmentFile"]).name == "tilewarp.env"
    lines = (DEPLOY / "systemd/tilewarp.env").read_text()
    environment = dict(re.findall(r"^(\w+)=(.*)$", lines, re.M))
    return Part(arguments, environment, float(fields["TimeoutStopSec"]))


PLATFORMS: dict[str, Callable[[str], Part]] = {
    "compose": compose_part,
    "kubernetes": kubernetes_part,
    "systemd": systemd_part,
}


def parse_seconds(text: str) -> float:
    """Return the seconds of a time such as 20s."""
    assert text.endswith("s")
    return float(text[:-1])


def _value(entry: dict[str, Any]) -> str:
    source = entry.get("valueFrom")
    if source is None:
        return str(entry["value"])
    if "secretKeyRef" in source:
        assert source["secretKeyRef"] == {"name": "tilewarp-redis", "key": "url"}
        return REDIS_URL
    return LIMITS[source["resourceFieldRef"]["resource"]]
