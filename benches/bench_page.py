"""How long the page of 10,000 buckets takes to open and to search in chromium; asked of the browser itself.

Needs Debian's chromium and the Python package playwright. Prints milliseconds, the median of five openings.
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

from tests.browser.conftest import FLAGS, written
from tests.dashboard.values import a_dossier, a_row

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


def opening_ms(page: Page, file: Path) -> float:
    page.goto(file.as_uri())
    page.locator("#list > li").first.wait_for()
    return float(page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart"))


def search_ms(page: Page) -> float:
    started = time.perf_counter()
    page.fill("#search", "op_9876 implemented")
    page.get_by_text("1 of 10,000 buckets").wait_for()
    return (time.perf_counter() - started) * 1000


def main() -> None:
    dossiers = [a_dossier(at, tests=4, words=f"aten::op_{at} is not implemented\n{TRACEBACK}") for at in range(BUCKETS)]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        started = time.perf_counter()
        file = written(Path(folder), dossiers, [a_row(at) for at in range(60)])
        print(
            f"written in {time.perf_counter() - started:.1f} s, {file.stat().st_size / 1e6:.1f} MB, {BUCKETS} buckets"
        )
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        opened = [opening_ms(page, file) for _ in range(ROUNDS)]
        print(f"opens in {statistics.median(opened):.0f} ms (worst {max(opened):.0f})")
        print(f"longest frame while scrolling: {page.evaluate(FRAMES):.0f} ms")
        print(f"first search, typing pause included: {search_ms(page):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
