"""The one door to templates.

Templates ship with the package and never come from state: state goes in as values, and undefined
names are errors. Importing Jinja takes a hook longer than all else it does, so the templates are
compiled by Jinja beforehand, with `make references`. A test holds that what came of it renders the
same bytes.
"""

from __future__ import annotations

import os
from functools import cache

from gitguard.errors import InvalidConfig
from gitguard.model.text import one_line
from gitguard.template_runtime import Context, Runtime, finalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDERS = (os.path.join(_HERE, "templates"), os.path.join(os.path.dirname(_HERE), "templates"))
"""In a wheel the templates lie in the package, in a checkout beside it."""
TEMPLATES = (
    "brief.md.j2",
    "handoff.md.j2",
    "report.html.j2",
    "report.md.j2",
    "resume.md.j2",
    "summary.md.j2",
)
"""What `render` takes; the other files in the folders are installed as they are."""


def render(template: str, **values: object) -> str:
    """Fill a template of ours with values; text is made visible on its way in."""
    from gitguard.compiled_templates import ROOTS

    context = Context(values, escapes=is_escaped(template))
    return "".join(ROOTS[template](context, environment=Runtime))


def render_report(template: str, folder: str, **values: object) -> str:
    """Fill the template of that name in a folder of the user's own, or ours if there is none.

    The folder is never one that a repository names: a template can run anything.
    """
    if not (folder and os.path.exists(os.path.join(folder, template))):
        return render(template, **values)
    from jinja2 import TemplateError

    try:
        return _environment(folder).get_template(template).render(values)
    except (TemplateError, UnicodeDecodeError) as error:
        raise InvalidConfig(
            f"the template `{os.path.join(folder, template)}` fails: {error}",
            "Correct it, or move it away to use the one that comes with gitguard",
        ) from error


def report_asset(name: str, folder: str) -> str:
    """Return a file that a report's page embeds, the user's own if the folder has one."""
    path = os.path.join(folder, name)
    if not (folder and os.path.exists(path)):
        return template_source(name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def template_source(template: str) -> str:
    """Return a template's own text, for files that are installed as they are."""
    for folder in _FOLDERS:
        path = os.path.join(folder, template)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(f"gitguard was installed without its template `{template}`")


def is_escaped(template: str | None) -> bool:
    """Whether whatever a template puts in is escaped as HTML, unless we made it as markup."""
    return template is not None and template.endswith(".html.j2")


@cache
def jinja_environment() -> Environment:
    """Return the environment in which templates are compiled, and compared with what came of it."""
    return _environment(*_FOLDERS)


def _environment(*folders: str) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=is_escaped,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters["oneline"] = one_line
    return environment
