"""How the documentation is built to a site: `make docs`."""

import sys
from importlib.metadata import version as find_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "tilewarp"
author = "tilewarp contributors"
project_copyright = "tilewarp contributors; Chakra and Caïssa are games by Christian Freeling"
version = release = find_version("tilewarp")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "contract",
    "settings_table",
]
exclude_patterns = ["extensions"]
nitpicky = True
# Types of other packages, whose documentation is not fetched for links.
nitpick_ignore_regex = [
    ("py:.*", r"(collections|types|grpc|numpy|google|tilewarp|core\.games)\..*")
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Quotes and the dashes of options stay as they are written.
smartquotes = False
# In docstrings, `this` is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "tilewarp"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
