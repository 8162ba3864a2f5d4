"""The jinja environment, and where templates are found.

`templates/` is a folder beside the package in a checkout and inside it in a wheel; looking in both places
works in a wheel, an editable install and a bare checkout (`importlib.resources` fails in the latter two).
A folder of the user's own comes first, so one template can be replaced without copying the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import jinja2

from tputriage.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def template_folders(own: Path | None = None) -> list[Path]:
    """The folders searched, first match wins; raises InputError where the user's own is not there."""
    if own is not None and not os.path.isdir(own):
        raise InputError(f"the template folder {own} does not exist: create it or correct `templates` in the settings")
    shipped = [_PACKAGE / "templates", _PACKAGE.parent / "templates"]
    return ([own] if own else []) + [folder for folder in shipped if folder.is_dir()]


def environment(own: Path | None = None, *, html: bool = False) -> jinja2.Environment:
    """A strict environment: an undefined name is an error, not an empty string."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folders(own)),
        undefined=jinja2.StrictUndefined,
        autoescape=html,  # noqa: S701 -- issue texts are markdown, cleaned in issues/clean.py; pages are HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def broken_templates(own: Path) -> str:
    """The first of the user's templates that is no template, with its fault; "" where all are."""
    made = environment(own)
    for name in sorted(path.name for path in own.glob("*.j2")):
        try:
            made.get_template(name)
        except jinja2.TemplateSyntaxError as exc:
            return f"{name}, line {exc.lineno}: {exc.message}"
        except (jinja2.TemplateError, UnicodeDecodeError) as exc:
            return f"{name}: {exc}"
    return ""


def render(template: str, values: Mapping[str, object], own: Path | None = None, *, html: bool = False) -> str:
    """The template's text; raises InputError naming the template where it is broken."""
    try:
        return environment(own, html=html).get_template(template).render(**values)
    except jinja2.TemplateNotFound as exc:
        raise InputError(f"the template {exc.name} is missing: reinstall tputriage or restore it") from exc
    except jinja2.TemplateError as exc:
        raise InputError(f"the template {template} cannot be rendered: {exc}") from exc
