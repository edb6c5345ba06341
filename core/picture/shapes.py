"""Shapes that the drawings of both games share: what a piece stands on, and the queen."""

BASE = '<path d="M24 87v-4q0-6 6-6h40q6 0 6 6v4z"/>'
QUEEN = (
    '<path d="M31 77 21 39l17 15 5-24 7 22 7-22 5 24 17-15-10 38z"/>'
    '<circle cx="20" cy="35" r="5"/><circle cx="42" cy="26" r="5"/>'
    '<circle cx="58" cy="26" r="5"/><circle cx="80" cy="35" r="5"/>'
    '<path d="M34 68h32" fill="none" stroke="currentColor"/>' + BASE
)
