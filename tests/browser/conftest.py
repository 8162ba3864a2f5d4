"""Debian's chromium driven by playwright, and axe-core from npm; each test skips with its reason without them."""

import shutil
import subprocess

import pytest

from tests.dashboard.values import NOW_S, a_dossier, a_hostile_dossier, a_row
from tputriage.dashboard import Links, board_of, page
from tputriage.model import VerdictKind

# The background flags keep the browser itself from asking for anything.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)
WIDE = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=FLAGS.split())
        yield running
        running.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The text of axe-core, which looks for faults that bar people from a page."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, and axe-core comes from it")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "axe-core@4"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip(f"axe-core cannot be installed from npm: {done.stderr.strip()[:200]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def written(folder, dossiers, rows):
    links = Links({"b0000000002": "https://github.com/google-pytorch/torch_tpu/issues/7"})
    text = page(dossiers, board_of(dossiers, rows, links), links, now_s=NOW_S, version="0.0.0")
    file = folder / "page.html"
    file.write_text(text, "utf-8")
    return file


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    """A page of a few buckets, one of them hostile, and of ten runs of two suites."""
    dossiers = [
        a_dossier(0, tests=40),
        a_dossier(1, tests=5, words="aten::logaddexp is not implemented for <lambda>", repro=None),
        a_dossier(2, tests=2, issue=7),
        a_dossier(3, issue=8, fixed_in="0.3.0", kind=VerdictKind.FLAKY),
        a_hostile_dossier(9),
    ]
    rows = [a_row(at, passed=40 + 5 * at, failed=50 - 5 * at, suite="peft" if at % 3 == 2 else "a") for at in range(10)]
    return written(tmp_path_factory.mktemp("page"), dossiers, rows)


@pytest.fixture(scope="session")
def large_file(tmp_path_factory):
    dossiers = [a_dossier(number, words=f"aten::op_{number} is not implemented") for number in range(10_000)]
    return written(tmp_path_factory.mktemp("large"), dossiers, [a_row(0), a_row(1)])


@pytest.fixture
def opened(browser):
    """Opens a file in a fresh page; at the end nothing may have been logged or asked for."""
    contexts, troubles = [], []

    def open_file(file, **options):
        context = browser.new_context(**{"viewport": WIDE, "color_scheme": "light"} | options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        made = context.new_page()
        made.on("console", lambda message: troubles.append(message.text))
        made.on("pageerror", lambda error: troubles.append(str(error)))
        made.on("request", lambda asked: asked.url.startswith("file:") or troubles.append(asked.url))
        made.goto(file.as_uri())
        return made

    yield open_file
    for context in contexts:
        context.close()
    assert troubles == []
