"""Sphinx configuration for `make docs`: Markdown pages, and the API reference from docstrings.

Sphinx was chosen because its search works without a server, Furo because it loads nothing from the network.
"""

from coterie import __version__

project = "coterie"
copyright = "the coterie developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
default_role = "code"  # docstrings use `name` as in Markdown
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
highlight_language = "none"  # blocks without a language hold outputs

html_theme = "furo"
html_title = f"coterie {__version__}"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would fetch pages, which browsers block for local files
