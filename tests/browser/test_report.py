"""The page of `weft report` in a real browser: headless Chromium, driven by Selenium.

Screenshots are kept under build/artefacts. Skips with one line where there is no Chromium.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "build/artefacts"
WEFT = os.environ.get("WEFT_BIN", str(ROOT / "build/release/bin/weft"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

if not CHROMIUM or not DRIVER:
    pytest.skip("no browser here: apt install chromium chromium-driver", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium here: pip install -r tests/python/requirements.txt")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A run with both types, uneven and even rows, refusals, and a peer if there is one."""
    folder = tmp_path_factory.mktemp("report")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([WEFT, "bench", "gen:elasticity3d:10", "gen:circuit:5000", "gen:rmat:11", "gen:poisson3d:20", "--type", "both",
                    "--formats", "csr,coo,ell,sell,hyb,bce,bro-ell,bro-sell,ehyb", "--peers", "eigen", "--seconds", "0.02", "--repeat", "3", "--json", "results.json"], cwd=folder, env=environment,
                   check=True, stdout=subprocess.DEVNULL, timeout=300)
    machine = json.loads((folder / "results.json").read_text())["machine"]
    counts = {f"{kind} {machine['isa']}": {"csr": 7.2, "coo": 15.1, "sell": 4.1, "bce": 6.2, "bro-sell": 9.5, "ehyb": 3.3} for kind in ("f32", "f64")}
    (folder / "counts.json").write_text(json.dumps({"build": f"{machine['compiler']}, {machine['build_type']}", "counter": "callgrind",
                                                    "instructions_per_nonzero": {"gen:poisson3d:20": counts, "gen:rmat:11": counts}}))
    subprocess.run([WEFT, "report", "results.json", "--instructions", "counts.json", "-o", "report.html"], cwd=folder, check=True)
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def shown(browser, page):
    """Opens the page with a width and a colour scheme; what the console said before is forgotten."""

    def show(width=1200, scheme="light", media="", path=page):
        browser.get_log("browser"), browser.get_log("performance")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.get(path.as_uri())
        return browser

    return show


def screenshot(browser, name, most_height=12000):
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    size = browser.execute_script("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], most_height), "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path = ARTEFACTS / name
    path.write_bytes(base64.b64decode(shot["data"]))
    assert path.stat().st_size > 20000, "an empty picture"
    print(f"screenshot: {path.relative_to(ROOT)}")


def luminance(colour):
    numbers = [float(part) / 255 for part in colour[colour.index("(") + 1:colour.index(")")].split(",")[:3]]
    linear = [n / 12.92 if n <= 0.03928 else ((n + 0.055) / 1.055) ** 2.4 for n in numbers]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("width, scheme, name", [(1200, "light", "report-light.png"), (1200, "dark", "report-dark.png"),
                                                 (360, "light", "report-phone.png")])
def test_renders_without_a_word_on_the_console(shown, width, scheme, name):
    driver = shown(width, scheme)
    assert driver.get_log("browser") == []
    pictures = driver.execute_script(
        "return Array.from(document.querySelectorAll('figure svg')).filter(s => s.closest('details:not([open])') === null)"
        ".map(s => { const b = s.getBoundingClientRect(); return [b.width, b.height]; })")
    assert len(pictures) > 10 and all(width > 100 and height > 40 for width, height in pictures)
    screenshot(driver, name)


def test_asks_nobody_for_anything(shown, page):
    driver = shown()
    requests = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = {one["params"]["request"]["url"] for one in requests if one["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith("data:")} == {page.as_uri()}


@pytest.mark.parametrize("width", [360, 420, 768, 1200, 1920])
@pytest.mark.parametrize("folded", [True, False])
def test_nothing_overflows_sideways(shown, width, folded):
    driver = shown(width)
    if not folded:
        driver.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = driver.execute_script(
        "return Array.from(document.querySelectorAll('body *')).filter(e => !e.closest('.scroll') && !e.closest('svg') &&"
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))")
    assert beyond == []


def test_no_text_of_a_chart_is_cut(shown):
    driver = shown(1200)
    driver.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    cut = driver.execute_script(
        "return Array.from(document.querySelectorAll('figure svg')).flatMap(s => { const f = s.getBoundingClientRect();"
        "return Array.from(s.querySelectorAll('text')).filter(t => { const b = t.getBoundingClientRect();"
        "return b.left < f.left - 1 || b.right > f.right + 1 || b.top < f.top - 2 || b.bottom > f.bottom + 2; })"
        ".map(t => t.textContent); })")
    assert cut == []


# The charts whose heading is this, each with its roofs, the boxes of its texts inside the plot, and of its marks.
ROOFLINES = """
return Array.from(document.querySelectorAll('figure')).filter(f => f.querySelector('h3') && f.querySelector('h3').textContent === arguments[0]).map(f => {
  const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  return {svg: box(f.querySelector('svg')), roofs: Array.from(f.querySelectorAll('.roof')).map(r => [getComputedStyle(r).stroke, ...box(r)]),
          labels: Array.from(f.querySelectorAll('text.mark')).map(t => [t.textContent, ...box(t), t.parentNode.hasAttribute('transform')]),
          marks: Array.from(f.querySelectorAll('g > title + path')).map(box), tips: Array.from(f.querySelectorAll('g > title')).map(t => t.textContent),
          page: getComputedStyle(document.body).backgroundColor}; })"""


@pytest.mark.parametrize("width, scheme, media", [(1200, "light", ""), (1200, "dark", ""), (360, "light", ""), (360, "dark", ""), (800, "light", "print")])
@pytest.mark.parametrize("heading", ["Roofline", "Bytes and instructions per nonzero"])
def test_rooflines_are_seen_everywhere(shown, width, scheme, media, heading):
    charts = shown(width, scheme, media).execute_script(ROOFLINES, heading)
    assert len(charts) == 2, "of each type"
    for chart in charts:
        assert chart["svg"][2] - chart["svg"][0] > 200 and chart["svg"][2] <= width
        assert chart["roofs"] and all(contrast(stroke, chart["page"]) >= 4.5 for stroke, *_ in chart["roofs"])
        assert any("memory, " in label[0] for label in chart["labels"])
        assert len(chart["marks"]) >= 10 and all("per nonzero" in tip for tip in chart["tips"][1:])


@pytest.mark.parametrize("heading", ["Roofline", "Bytes and instructions per nonzero"])
def test_labels_of_a_roofline_hide_nothing(shown, heading):
    def meet(one, other):
        return one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1

    for chart in shown(1200).execute_script(ROOFLINES, heading):
        straight = [label[1:5] for label in chart["labels"] if not label[5]]  # none where there is no room
        for i, label in enumerate(straight):
            assert not any(meet(label, other) for other in straight[i + 1:])
            assert not any(meet(label, mark) for mark in chart["marks"])


def column(driver, title):
    """Cells of the column of that title, from top to bottom."""
    return driver.execute_script(
        "const t = document.querySelector('table.sortable');"
        "const c = Array.from(t.tHead.rows[0].cells).findIndex(h => h.textContent.trim() === arguments[0]);"
        "return Array.from(t.tBodies[0].rows).map(r => r.cells[c].textContent)", title)


def click(driver, title):
    driver.execute_script(
        "Array.from(document.querySelectorAll('th button')).find(b => b.textContent.trim() === arguments[0]).click()", title)
    return driver.execute_script("return Array.from(document.querySelectorAll('th[aria-sort]')).map("
                                 "h => [h.textContent.trim(), h.getAttribute('aria-sort')])")


@pytest.mark.parametrize("title", ["time, ms", "GFLOP/s", "set-up, ms", "padding"])
def test_a_click_sorts_numbers_by_number_and_leaves_what_has_none_last(shown, title):
    driver = shown()
    before = column(driver, title)
    for direction in ("ascending", "descending"):
        assert click(driver, title) == [[title, direction]]
        cells = column(driver, title)
        assert sorted(cells) == sorted(before)
        numbers = [float(cell) for cell in cells if cell]
        assert numbers == sorted(numbers, reverse=direction == "descending") and len(set(numbers)) > 2
        assert all(cell == "" for cell in cells[len(numbers):])


def test_a_click_sorts_words_by_word(shown):
    driver = shown()
    assert click(driver, "name") == [["name", "ascending"]]
    assert column(driver, "name") == sorted(column(driver, "name"), key=str.lower)


@pytest.mark.parametrize("scheme, dark", [("light", False), ("dark", True)])
def test_text_stands_out_in_both_schemes(shown, scheme, dark):
    driver = shown(1200, scheme)
    page_colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (luminance(page_colour) < 0.1) == dark
    colours = driver.execute_script(
        "return Array.from(new Set(Array.from(document.querySelectorAll('p,li,figcaption,td,th,a,summary,dt,h2'))"
        ".map(e => getComputedStyle(e).color).concat(Array.from(document.querySelectorAll('svg text'))"
        ".map(e => getComputedStyle(e).fill))))")
    soft = driver.execute_script("return getComputedStyle(document.querySelector('th')).backgroundColor")
    for colour in colours:
        assert contrast(colour, page_colour) >= 4.5 and contrast(colour, soft) >= 4.5, colour


def test_prints(shown):
    driver = shown()
    printed = base64.b64decode(driver.print_page())
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    (ARTEFACTS / "report.pdf").write_bytes(printed)
    assert printed.startswith(b"%PDF") and len(printed) > 50000


def test_is_readable_without_scripts(shown, browser):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver = shown()
        table = driver.find_element("css selector", "table.sortable")
        assert table.is_displayed() and "GFLOP/s" in table.text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
