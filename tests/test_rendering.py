"""Templates are found, strict, and each one renders."""

from pathlib import Path

import jinja2
import pytest

from tputriage.errors import InputError
from tputriage.rendering import environment, render, template_folders

TEMPLATES = sorted((Path(__file__).parent.parent / "templates").rglob("*.j2"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_each_template_compiles(path):
    environment().parse(path.read_text("utf-8"))


def test_an_undefined_name_is_an_error_that_names_the_template(tmp_path):
    (tmp_path / "mine.j2").write_text("{{ nothing }}")
    with pytest.raises(InputError, match=r"mine\.j2.*nothing"):
        render("mine.j2", {}, tmp_path)


def test_a_broken_template_is_an_error_that_names_it(tmp_path):
    (tmp_path / "mine.j2").write_text("{% if %}")
    with pytest.raises(InputError, match=r"mine\.j2"):
        render("mine.j2", {}, tmp_path)


def test_a_missing_template_is_an_error():
    with pytest.raises(InputError, match=r"absent\.j2 is missing"):
        render("absent.j2", {})


def test_a_folder_of_the_users_own_comes_first(tmp_path):
    (tmp_path / "issue.md.j2").write_text("mine")
    assert render("issue.md.j2", {}, tmp_path) == "mine"
    assert render("title.md.j2", {"subject": "s", "happens": "h", "condition": "", "message": ""}, tmp_path) == "s h"


def test_a_folder_that_is_not_there_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        template_folders(tmp_path / "absent")


def test_pages_are_escaped_and_issues_are_not(tmp_path):
    (tmp_path / "mine.j2").write_text("{{ text }}")
    assert render("mine.j2", {"text": "<b>"}, tmp_path, html=True) == "&lt;b&gt;"
    assert render("mine.j2", {"text": "<b>"}, tmp_path) == "<b>"


def test_values_are_never_templates(tmp_path):
    (tmp_path / "mine.j2").write_text("{{ text }}")
    assert render("mine.j2", {"text": "{{ 7 * 7 }}"}, tmp_path) == "{{ 7 * 7 }}"


def test_the_environment_is_strict():
    assert environment().undefined is jinja2.StrictUndefined
