"""Lets Jinja compile the templates into `gitguard/compiled_templates.py`: `make references`."""

from __future__ import annotations

from pathlib import Path

import gitguard
from gitguard.model.codec import sha256
from gitguard.rendering import TEMPLATES, is_escaped, jinja_environment, template_source

TARGET = Path(gitguard.__file__).parent / "compiled_templates.py"
_HEAD = '''"""The templates as Jinja compiles them; written by `make references`."""

from __future__ import annotations

from gitguard.template_runtime import (
    Macro,
    TemplateRuntimeError,
    Undefined,
    escape,
    internalcode,
    missing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
'''


def function_name(template: str) -> str:
    return template.removesuffix(".j2").replace(".", "_")


def digest(template: str) -> str:
    """Return what tells whether a template changed since it was compiled."""
    return sha256(template_source(template).encode())


def compiled(template: str) -> str:
    """Return the function that Jinja makes of a template, named after it."""
    source = jinja_environment().compile(
        template_source(template), name=template, filename=template, raw=True
    )
    body = source.partition("def root(")[2].partition("\nblocks = {}")[0]
    return f"def {function_name(template)}({body}"


def module() -> str:
    """Return the whole module."""
    roots = "".join(f'    "{name}": {function_name(name)},\n' for name in TEMPLATES)
    digests = "".join(f'    "{name}": "{digest(name)}",\n' for name in TEMPLATES)
    functions = "\n\n".join(compiled(name) for name in TEMPLATES)
    functions = functions.replace("environment=environment", "*, environment")
    # What a template escapes is known when it is compiled, not when it runs.
    for name in TEMPLATES:
        assert ("escape(" in compiled(name)) == is_escaped(name), name
    return (
        f"{_HEAD}\n\n{functions}\n\n"
        f"ROOTS: dict[str, Callable[..., Iterator[str]]] = {{\n{roots}}}\n"
        f'"""Each template\'s function."""\n'
        f"SOURCES = {{\n{digests}}}\n"
        '"""The SHA-256 of each template as it was compiled."""\n'
    )


def main() -> None:
    """Write the module."""
    TARGET.write_text(module())


if __name__ == "__main__":
    main()
