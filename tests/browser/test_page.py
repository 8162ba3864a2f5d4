"""The page in a real browser, opened from a file."""

import pytest

from tests.dashboard.values import SOURCE


def titles(page):
    return page.locator("#list .title").all_inner_texts()


def test_buckets_stand_in_order_and_are_counted(opened, page_file):
    page = opened(page_file)
    assert [text.partition(":")[0] for text in titles(page)[:4]] == ["0", "1", "2", "3"]
    assert page.locator("#count").inner_text() == "5 buckets"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("logaddexp", 1),
        ("LOGADDEXP <lambda>", 1),
        ("TestUnet2::test_1", 1),
        ("torch.median", 4),
        ("no such words", 0),
        ("</script>", 1),
    ],
)
def test_search_finds_titles_tests_and_operators(opened, page_file, words, found):
    page = opened(page_file)
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_timeout(250)
    assert len(titles(page)) == found
    page.keyboard.press("Escape")
    assert len(titles(page)) == 5


def test_filters_by_verdict_and_state(opened, page_file):
    page = opened(page_file)
    page.get_by_label("flaky").uncheck()
    assert page.locator("#count").inner_text() == "4 of 5 buckets"
    page.get_by_label("State").select_option("open")
    assert [text.partition(":")[0] for text in titles(page)] == ["2"]


@pytest.mark.parametrize(
    ("name", "state", "found"), [("to report", "waiting", 3), ("fixed", "fixed", 1), ("open", "open", 1)]
)
def test_a_number_on_top_shows_its_buckets(opened, page_file, name, state, found):
    page = opened(page_file)
    link = page.locator(f".counts a[data-state={state}]")
    assert link.inner_text().split() == [str(found), *name.split()]
    link.focus()
    page.keyboard.press("Enter")
    assert page.get_by_label("State").input_value() == state
    assert len(titles(page)) == found


def test_a_bucket_opens_from_the_keyboard_and_its_script_is_copied(opened, page_file):
    page = opened(page_file, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#list summary").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copy Repro").click()
    assert page.evaluate("navigator.clipboard.readText()") == SOURCE
    assert page.locator("#said").inner_text() == "Repro copied"


def test_the_script_has_colours_and_its_own_words(opened, page_file):
    page = opened(page_file)
    page.locator("#list summary").first.click()
    code = page.locator("pre code").first
    assert code.inner_text() == SOURCE
    assert (code.locator(".k").first.inner_text(), code.locator(".c").first.inner_text()) == ("import", "# a comment")


def test_hostile_text_is_shown_and_does_nothing(opened, page_file):
    page = opened(page_file)
    for summary in page.locator("#list summary").all():
        summary.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#list img, #list script").count() == 0
    assert "</script><script>window.hacked" in page.locator("#b0000000009 pre").first.inner_text()


def test_an_issue_is_linked(opened, page_file):
    page = opened(page_file)
    page.locator("#b0000000002 summary").click()
    link = page.get_by_role("link", name="Issue #7")
    assert "Issue #7: filed from here" in page.locator("#b0000000002 .part").inner_text()
    assert link.get_attribute("href") == "https://github.com/google-pytorch/torch_tpu/issues/7"


def test_a_link_to_a_bucket_opens_it(opened, page_file):
    page = opened(page_file)
    page.goto(f"{page_file.as_uri()}#b0000000002")
    assert page.locator("#b0000000002 details").get_attribute("open") is not None


def test_each_run_tells_its_numbers_to_pointer_and_keyboard(opened, page_file):
    page = opened(page_file)
    mark = page.locator(".mark").first
    mark.hover()
    assert page.locator("#tip").inner_text().startswith("44.4% pass: 40 passed, 50 failed")
    page.mouse.move(0, 0)
    assert page.locator("#tip").is_hidden()
    mark.focus()
    assert mark.get_attribute("aria-label") == page.locator("#tip").inner_text()


def test_the_theme_follows_the_system_until_it_is_chosen(opened, page_file):
    page = opened(page_file, color_scheme="dark")
    button = page.get_by_role("button", name="Dark theme")
    ground = "getComputedStyle(document.body).backgroundColor"
    night = page.evaluate(ground)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert page.evaluate(ground) != night


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window(opened, page_file, width):
    page = opened(page_file, viewport={"width": width, "height": 800})
    for summary in page.locator("#list summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(opened, page_file, axe, theme):
    page = opened(page_file, color_scheme=theme, bypass_csp=True)
    for summary in page.locator("#list summary").all():
        summary.click()
    page.evaluate(axe)
    found = page.evaluate("axe.run().then((said) => said.violations.map((one) => [one.impact, one.id, one.help]))")
    assert [fault for fault in found if fault[0] in ("serious", "critical")] == []


def test_ten_thousand_buckets_are_drawn_as_one_comes_to_them(opened, large_file):
    page = opened(large_file)
    assert page.locator("#count").inner_text() == "10,000 buckets"
    assert len(titles(page)) <= 200
    page.locator("#search").fill("op_9876 implemented")
    page.wait_for_timeout(600)
    assert page.locator("#count").inner_text() == "1 of 10,000 buckets"


def test_scrolling_draws_more(opened, large_file):
    page = opened(large_file)
    before = page.locator("#list > li").count()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("(count) => document.querySelectorAll('#list > li').length > count", arg=before)


def test_print_shows_the_buckets_and_no_controls(opened, page_file):
    page = opened(page_file)
    page.emulate_media(media="print")
    assert page.locator("#filters").is_hidden()
    assert page.locator("#list .title").first.is_visible()


def test_paper_is_light_whatever_the_screen_is(opened, page_file):
    light, dark = (opened(page_file, color_scheme=scheme) for scheme in ("light", "dark"))
    ink = "getComputedStyle(document.querySelector('h1')).color"
    assert light.evaluate(ink) != dark.evaluate(ink)
    for page in (light, dark):
        page.emulate_media(media="print")
    assert light.evaluate(ink) == dark.evaluate(ink)


def test_without_scripts_the_numbers_and_buckets_are_there(opened, page_file):
    page = opened(page_file, java_script_enabled=False)
    assert page.locator("noscript table tbody tr").count() == 5
    assert page.locator("#filters").is_hidden()
