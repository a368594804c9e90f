"""How `make docs` builds the site: Sphinx, Markdown pages, the reference from docstrings.

Sphinx, because its search works from the disk too; Furo, because it loads nothing from elsewhere.
"""

from coterie import __version__

project = "coterie"
copyright = "the coterie developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
default_role = "code"  # docstrings write `names` as Markdown does
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False

html_theme = "furo"
html_title = f"coterie {__version__}"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses from the disk
