"""The pictures of the documentation are those that `tilewarp board` draws now."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _load() -> ModuleType:
    specification = importlib.util.spec_from_file_location("draw", ROOT / "docs/draw.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


draw = _load()
PICTURES = dict(draw.find_pictures())


@pytest.mark.parametrize("file", PICTURES, ids=lambda file: str(file.name))
def test_a_picture_is_up_to_date(file: Path, tmp_path: Path) -> None:
    now = tmp_path / file.name
    draw.draw(now, PICTURES[file])
    assert file.read_text() == now.read_text(), "run make pictures"


def test_every_picture_is_drawn_and_shown() -> None:
    assert set(PICTURES) == set((ROOT / "docs").rglob("*.svg"))
