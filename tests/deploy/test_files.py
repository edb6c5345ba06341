"""What stands in several deployment files stands there alike."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import DEPLOY, find_instructions, read_yaml

ROOT = Path(__file__).parents[2]


def kubernetes(kind: str) -> dict[str, Any]:
    files = ("gateway", "worker", "network", "autoscaling")
    documents = [d for name in files for d in read_yaml(f"kubernetes/{name}.yaml")]
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == kind}


def find_ports(node: Any) -> Iterator[int]:
    """Yield every number that a key `port` or `containerPort` has in a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("port", "containerPort") and isinstance(value, int):
                yield value
            else:
                yield from find_ports(value)
    elif isinstance(node, list):
        for value in node:
            yield from find_ports(value)


def test_what_is_scraped_and_called_is_what_listens() -> None:
    exposed = {int(port) for port in find_instructions("EXPOSE")[0].split()}
    grpc, metrics = sorted(exposed, reverse=True)
    policies = kubernetes("NetworkPolicy")
    assert set(find_ports(kubernetes("Deployment")["gateway"])) == {grpc, metrics}
    assert set(find_ports(kubernetes("Deployment")["worker"])) == {metrics}
    assert set(find_ports(kubernetes("Service"))) == {grpc}
    assert set(find_ports(policies["clients-to-gateway"])) == {grpc}
    assert set(find_ports(policies["monitoring-to-metrics"])) == {metrics}
    (scraping,) = read_yaml("prometheus/prometheus.yaml")
    assert set(find_ports(scraping)) == {metrics}
    (compose,) = read_yaml("compose.yaml")
    for name in ("gateway", "worker"):
        environment = compose["services"][name]["environment"]
        assert environment[f"TILEWARP_{name.upper()}_METRICS"] == f"0.0.0.0:{metrics}"
    assert compose["services"]["gateway"]["ports"] == [f"127.0.0.1:{grpc}:{grpc}"]


@pytest.mark.parametrize("name", ["gateway", "worker"])
def test_what_selects_pods_selects_those_of_its_deployment(name: str) -> None:
    deployment = kubernetes("Deployment")[name]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    budget = kubernetes("PodDisruptionBudget")[name]
    assert budget["spec"]["selector"]["matchLabels"] == labels
    assert kubernetes("Deployment")[name]["spec"]["template"]["spec"]["serviceAccountName"] in (
        kubernetes("ServiceAccount")
    )


def test_the_autoscaler_scales_the_workers() -> None:
    """Its kind has no published schema that a package brings: these are the fields it needs."""
    scaler = kubernetes("ScaledObject")["worker"]
    assert scaler["apiVersion"] == "keda.sh/v1alpha1"
    spec = scaler["spec"]
    target = kubernetes("Deployment")[spec["scaleTargetRef"]["name"]]
    assert "replicas" not in target["spec"]  # or each `apply` would undo what it has scaled
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "prometheus"
    assert {"serverAddress", "query", "threshold"} <= set(trigger["metadata"])
    assert all(isinstance(value, str) for value in trigger["metadata"].values())


def test_each_alert_is_seen_to_fire_and_to_be_silent() -> None:
    """By `promtool test rules`, where there is one."""
    (rules,) = read_yaml("prometheus/alerts.yaml")
    names = {rule["alert"] for rule in rules["groups"][0]["rules"]}
    (seen,) = read_yaml("../tests/deploy/alerts.yaml")
    silent, *_, firing = seen["tests"]
    assert {case["alertname"] for case in silent["alert_rule_test"]} == names
    (query,) = firing["promql_expr_test"]
    fired = {re.sub(r'.*"(\w+)".*', r"\1", sample["labels"]) for sample in query["exp_samples"]}
    assert fired == names


def test_kustomize_knows_every_file() -> None:
    (kustomization,) = read_yaml("kubernetes/kustomization.yaml")
    files = {file.name for file in (DEPLOY / "kubernetes").iterdir()} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files


def test_the_image_runs_as_an_ordinary_user_who_owns_its_cache() -> None:
    user, group = find_instructions("USER")[-1].split(":")
    script = find_instructions("RUN")[-1]
    assert f"--uid {user}" in script
    assert f"--gid {group}" in script
    for deployment in kubernetes("Deployment").values():
        context = deployment["spec"]["template"]["spec"]["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"]) == (int(user), int(group))


@pytest.mark.parametrize("name", ["runtime", "build"])
def test_the_image_gets_what_was_tested(name: str) -> None:
    """Each version and each digest in the image's locks is in the lock of the tests."""
    tested = read_lock(ROOT / "requirements.lock")
    locked = read_lock(DEPLOY / f"{name}.lock")
    assert locked
    for pin, digests in locked.items():
        assert digests
        assert digests == tested[pin], pin


def read_lock(file: Path) -> dict[str, set[str]]:
    """Return the digests of each pinned version."""
    entries = re.split(r"\n(?=[a-z0-9])", file.read_text())
    return {
        entry.split()[0]: set(re.findall(r"sha256:[0-9a-f]{64}", entry))
        for entry in entries
        if "==" in entry
    }
