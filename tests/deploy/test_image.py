"""The steps that build the image, run outside a container: they need the package registries."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, find_instructions, image_list

ROOT = DEPLOY.parent
LOAD_SCRIPTS = (
    "from worker.settings import Settings; from worker.store import Store; Store(Settings())"
)


@pytest.mark.soak
def test_the_image_is_built_of_what_it_copies_and_works_where_nothing_can_be_written(
    tmp_path: Path,
) -> None:
    source, target = tmp_path / "src", tmp_path / "opt/tilewarp"
    source.mkdir()
    target.parent.mkdir()
    venv.create(tmp_path / "python", with_pip=True)  # in place of the image's own
    build, final = steps()
    for word, text in build:
        if word == "COPY":
            copy(text, source)
        elif word == "RUN":
            script = text.replace("/opt/tilewarp", str(target))
            run(["sh", "-ec", script], source, PATH=f"{tmp_path}/python/bin:{os.environ['PATH']}")
    assert [text for word, text in final if word == "COPY"] == [
        "--from=build /opt/tilewarp /opt/tilewarp"
    ]
    shutil.rmtree(source)
    (program,) = image_list("ENTRYPOINT")
    bare = {"PATH": f"{target}/bin:/usr/bin:/bin", "HOME": "/proc"}  # where not even root can write
    assert run([str(target / "bin" / program), "--version"], tmp_path, **bare)
    assert "chakra" in run([str(target / "bin" / program), "variants"], tmp_path, **bare)
    run([str(target / "bin/python"), "-c", LOAD_SCRIPTS], tmp_path, **bare)
    run([str(target / "bin/python"), "-c", "import opentelemetry.sdk.trace"], tmp_path, **bare)
    names = {file.name for file in (target / "lib").glob("python*/site-packages/*")}
    assert not names & {"pip", "ruff", "mypy", "pytest", "tests"}


def steps() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the instructions of the first stage and of the second, each a word and its text."""
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    pairs = [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]
    first, second = [place for place, (word, _) in enumerate(pairs) if word == "FROM"]
    assert find_instructions("FROM")[0].removesuffix(" AS build") == pairs[second][1]
    return pairs[first + 1 : second], pairs[second + 1 :]  # type: ignore[return-value]


def copy(text: str, target: Path) -> None:
    *names, place = text.split()
    for name in names:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, target / place, ignore=ignored)
        else:
            (target / place).mkdir(exist_ok=True)
            shutil.copy(ROOT / name, target / place)


def run(command: list[str], folder: Path, **environment: str) -> str:
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", "TILEWARP_CACHE_DIR": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout
