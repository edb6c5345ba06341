"""The Lua scripts by name, each with what all of them share before it."""

from importlib.resources import files


def source(name: str) -> str:
    """Return the text of the script `lua/<name>.lua`, ready for the server."""
    folder = files("worker.store") / "lua"
    common = (folder / "common.lua").read_text()
    text = (folder / f"{name}.lua").read_text()
    if text.startswith("#!"):  # must stay the first line
        flags, text = text.split("\n", 1)
        return f"{flags}\n{common}\n{text}"
    return f"{common}\n{text}"
