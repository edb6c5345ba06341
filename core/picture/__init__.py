"""Pictures of positions: as SVG, and as text for terminals. Game by game in `picture.py`."""

from core.picture.build import build_scene
from core.picture.scene import Scene
from core.picture.svg import draw_svg
from core.picture.text import Span, draw_spans
from core.picture.themes import THEMES

__all__ = ["THEMES", "Scene", "Span", "build_scene", "draw_spans", "draw_svg"]
