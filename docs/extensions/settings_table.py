"""The directive `settings-table`: every setting of the service, as `worker/settings.py` has it."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from worker import settings


class SettingsTable(SphinxDirective):
    """A table of variables, defaults and help."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(settings.__file__)
        lines = ["| variable | default | what |", "|---|---|---|"]
        for entry in settings.table():
            default = "" if entry.default == "" else f"`{entry.default}`"
            variable = settings.variable(entry.name)
            lines.append(f"| `{variable}` | {default} | {entry.metadata['help']} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("settings-table", SettingsTable)
    return {"parallel_read_safe": True}
