"""How long the page of 10,000 buckets takes to write, and to open, scroll, search and filter in chromium.

`tputriage report` is timed on a store, masks and all; the rest is asked of the browser itself. Needs Debian's
chromium and the Python package playwright. Prints milliseconds, the median of five openings.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import FLAGS
from tests.dashboard.values import a_dossier
from tests.helpers import a_report
from tputriage.pipeline.reporting import report
from tputriage.store import open_store

BUCKETS = 10_000
ROUNDS = 5
TRACEBACK = "\n".join(
    f'  File "suite/module_{line}.py", line {line}, in forward\n    x = self.layer(x)' for line in range(40)
)
FRAMES = """() => new Promise((done) => {
  const gaps = []; let last = performance.now(), top = 0;
  const step = (now) => {
    gaps.push(now - last); last = now; top += 400; scrollTo(0, top);
    gaps.length < 120 ? requestAnimationFrame(step) : done(Math.max(...gaps.slice(2)));
  };
  requestAnimationFrame(step);
})"""


FILTER = """() => new Promise((done) => {
  const began = performance.now();
  document.querySelector("#verdicts input").click();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


def opening_ms(page: Page, file: Path) -> float:
    page.goto(file.as_uri())
    page.locator("#list > li").first.wait_for()
    return float(page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart"))


def search_ms(page: Page) -> float:
    started = time.perf_counter()
    page.fill("#search", "op_9876 implemented")
    page.get_by_text("1 of 10,000 buckets").wait_for()
    return (time.perf_counter() - started) * 1000


def filter_ms(page: Page) -> float:
    """From a click on a verdict to the frame after the list is drawn anew."""
    return float(page.evaluate(FILTER))


def stored(folder: Path) -> Path:
    """A store of as many buckets, each of four tests, with verdict and repro."""
    dossiers = [a_dossier(at, tests=4, words=f"aten::op_{at} is not implemented\n{TRACEBACK}") for at in range(BUCKETS)]
    whole = a_report(*(failure for dossier in dossiers for failure in dossier.bucket.failures))
    with open_store(folder) as store:
        store.add_report(whole, "diffusers", [dossier.bucket for dossier in dossiers])
        for dossier in dossiers[::20]:  # each is a commit of its own
            store.save_verdict(dossier.bucket.id, dossier.verdict)
            store.save_repro(dossier.repro)
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file, store = Path(folder, "page.html"), stored(Path(folder, "store"))
        started, spent = time.perf_counter(), time.process_time()
        report(form="html", output=file, store=store, quiet=True)
        wall, cpu = time.perf_counter() - started, time.process_time() - spent
        print(f"written in {wall:.1f} s ({cpu:.1f} s of CPU), {file.stat().st_size / 1e6:.1f} MB, {BUCKETS} buckets")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        opened = [opening_ms(page, file) for _ in range(ROUNDS)]
        print(f"opens in {statistics.median(opened):.0f} ms (worst {max(opened):.0f})")
        print(f"longest frame while scrolling: {page.evaluate(FRAMES):.0f} ms")
        print(f"first search, typing pause included: {search_ms(page):.0f} ms")
        page.fill("#search", "")
        page.get_by_text("10,000 buckets", exact=True).wait_for()
        print(f"filter by a verdict: {statistics.median(filter_ms(page) for _ in range(ROUNDS)):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
