#!/usr/bin/env python3
"""Looks at a page in a headless Chromium, as a person would: wide, narrow, dark, printed, by keyboard and by pointer.

    python3 tests/page/look.py PAGE.html... [--shots FOLDER] [--readme docs/demo.png]

It needs Chromium, its driver and Selenium (Debian: chromium, chromium-driver, python3-selenium), and fails with a list of
everything that is wrong with the page: messages on the console, requests to anywhere, text that overlaps or is cut,
a page that scrolls sideways, figures without floors, controls that do nothing, and a page of more than 2 MB. It says when
the first paint comes, and judges it not: a busy machine is late with everything.
"""

import argparse
import base64
import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDTHS = {"wide": (1400, 1000), "tablet": (820, 1100), "phone": (380, 800)}
# For a whole paper.
MOST_BYTES = 2_000_000

OVERLAPS = """
// Two texts of one drawing overlap where their boxes share more than a hair.
const found = [];
for (const svg of document.querySelectorAll("figure svg")) {
  if (!svg.getBoundingClientRect().width) continue;
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.getBBox().width > 0);
  const frame = svg.getBoundingClientRect();
  const boxes = texts.map((text) => ({ words: text.firstChild.textContent, box: text.getBoundingClientRect() }));
  for (const { words, box } of boxes) {
    if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
      found.push(`cut: ${words}`);
  }
  boxes.forEach((a, place) => boxes.slice(place + 1).forEach((b) => {
    const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (width > 1.5 && height > 0.35 * Math.min(a.box.height, b.box.height)) found.push(`overlap: ${a.words} | ${b.words}`);
  }));
}
return found;
"""


def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for place in ("/usr/bin/chromium", "/usr/bin/chromium-browser"):
        if pathlib.Path(place).exists():
            options.binary_location = place
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def resize(driver, size, dark=False):
    width, height = size
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def shot(driver, path):
    """A picture of the whole page; its size in pixels."""
    size = driver.execute_script("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    data = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})["data"]
    path.write_bytes(base64.b64decode(data))
    return size


def requests(driver, page):
    """Addresses that were asked for beside the page itself."""
    found = []
    for line in driver.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = message["params"]["request"]["url"]
            if not address.startswith("data:") and address != page.as_uri():
                found.append(address)
    return found


def look(driver, page, shots):
    wrong = []
    size = page.stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"the page has {size} bytes, more than {MOST_BYTES}")
    resize(driver, WIDTHS["wide"])
    driver.get(page.as_uri())
    paint = driver.execute_async_script("""
      const done = arguments[arguments.length - 1];
      const seen = () => performance.getEntriesByName("first-contentful-paint")[0];
      const wait = (left) => seen() || !left ? done(seen()?.startTime ?? null) : setTimeout(() => wait(left - 1), 100);
      wait(100);
    """)
    if paint is None:
        wrong.append("nothing is painted within ten seconds")
    else:
        print(f"{page.name}: {size} bytes, first paint after {paint:.0f} ms")
    figures = driver.find_elements(By.CSS_SELECTOR, "figure svg")
    # Verdicts are a table.
    if not figures and not page.stem.startswith("claims"):
        wrong.append("there is no figure")
    for name, width in WIDTHS.items():
        for dark in (False, True):
            resize(driver, width, dark)
            shown = f"{name}{', dark' if dark else ''}"
            sideways = driver.execute_script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if sideways > 0:
                wrong.append(f"{shown}: the page scrolls sideways by {sideways} pixels")
            pixels = shot(driver, shots / f"{name}{'-dark' if dark else ''}.png")
            if pixels[1] < 800 or (shots / f"{name}{'-dark' if dark else ''}.png").stat().st_size < 20_000:
                wrong.append(f"{shown}: the picture is nearly empty")
            ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
            light = sum(int(part) for part in ground.strip("rgba()").split(",")[:3]) > 384
            if light == dark:
                wrong.append(f"{shown}: the ground is {ground}")
        wrong += [f"{name}: {found}" for found in driver.execute_script(OVERLAPS)]
    resize(driver, WIDTHS["wide"])
    wrong += of_figures(driver)
    wrong += of_controls(driver)
    wrong += of_print(driver)
    wrong += [f"console: {line['message']}" for line in driver.get_log("browser")]
    wrong += [f"it asks for {address}" for address in requests(driver, page)]
    return wrong


def of_print(driver):
    """On paper nothing is cut at the right, and folded parts are open."""
    wrong = []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    # The width between the margins of a sheet of A4, at 96 pixels an inch.
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    too_wide = driver.execute_script("""
      const cut = [];
      for (const part of document.querySelectorAll("table, pre, p, figure svg"))
        if (part.getBoundingClientRect().right > innerWidth + 2) cut.push(part.tagName + " " + part.textContent.slice(0, 40));
      return cut;
    """)
    wrong += [f"print: cut at the right: {part}" for part in too_wide]
    if driver.find_elements(By.CSS_SELECTOR, "details:not([open])"):
        wrong.append("print: a folded part stays folded")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    return wrong


def of_figures(driver):
    """Every drawing has words for a screen reader, names at its lines, and floor and ceiling where it shows accuracies.

    A page of an experiment without a ceiling has it nowhere.
    """
    wrong = []
    has_ceiling = any("(ceiling)" in name.text for name in driver.find_elements(By.CSS_SELECTOR, "figure text.name"))
    titles = [caption.text for caption in driver.find_elements(By.TAG_NAME, "figcaption")]
    wrong += [f"two figures are called {title!r}" for title in {title for title in titles if titles.count(title) > 1}]
    for figure in driver.find_elements(By.TAG_NAME, "figure"):
        title = figure.find_element(By.TAG_NAME, "figcaption").text
        svg = figure.find_element(By.TAG_NAME, "svg")
        if not svg.get_attribute("aria-label"):
            wrong.append(f"{title}: a screen reader has no words for it")
        names = [name.text for name in figure.find_elements(By.CSS_SELECTOR, "text.name")]
        series = figure.find_elements(By.CSS_SELECTOR, "g.series")
        if len([name for name in names if not name.startswith("×")]) != len(series) or not all(names):
            wrong.append(f"{title}: {len(series)} lines and the names {names}")
        if len(set(names)) != len(names):
            wrong.append(f"{title}: two lines have one name among {names}")
        for name, line in zip(names, series):
            is_dashed = bool(line.find_elements(By.CSS_SELECTOR, "path[stroke-dasharray]"))
            if name.endswith(("(floor)", "(ceiling)")) and not is_dashed:
                wrong.append(f"{title}: {name} is not dashed")
        if title.startswith("Accuracy"):
            if not any("(floor)" in name for name in names):
                wrong.append(f"{title}: no floor")
            if has_ceiling and not any("(ceiling)" in name for name in names):
                wrong.append(f"{title}: no ceiling, and others have one")
    return wrong


def of_controls(driver):
    """Buttons hide lines by keyboard, points say what they are, and wide tables take the focus."""
    wrong = []
    for figure in driver.find_elements(By.TAG_NAME, "figure"):
        lines = figure.find_elements(By.CSS_SELECTOR, ".series")
        buttons = figure.find_elements(By.CSS_SELECTOR, ".toggles button")
        if len(lines) > 1 and len(buttons) != len(lines):
            wrong.append(f"{len(lines)} lines have {len(buttons)} buttons")
        for button, line in zip(buttons, lines):
            button.send_keys(Keys.SPACE)
            if line.is_displayed() or button.get_attribute("aria-pressed") != "false":
                wrong.append(f"the button {button.text!r} does not hide its line")
            button.send_keys(Keys.SPACE)
            if button.get_attribute("aria-pressed") != "true":
                wrong.append(f"the button {button.text!r} does not bring its line back")
    tip = driver.execute_script("""
      const hit = document.querySelector(".hit");
      if (!hit) return "no point, and no trial";
      hit.scrollIntoView({ block: "center" });
      hit.dispatchEvent(new PointerEvent("pointerenter"));
      const tip = document.getElementById("tip");
      const words = tip.hidden ? "" : tip.textContent;
      hit.dispatchEvent(new PointerEvent("pointerleave"));
      return tip.hidden ? words : "";
    """)
    if "trial" not in tip:
        wrong.append(f"a point says {tip!r}")
    for region in driver.find_elements(By.CSS_SELECTOR, ".scroll"):
        if region.get_attribute("tabindex") != "0" or not region.get_attribute("aria-label"):
            wrong.append("a table that may scroll cannot be reached by keyboard")
    if driver.execute_script("return document.documentElement.lang") != "en":
        wrong.append("the language of the page is not said")
    headings = [heading.tag_name for heading in driver.find_elements(By.CSS_SELECTOR, "h1, h2, h3")]
    if headings.count("h1") != 1 or headings[0] != "h1":
        wrong.append(f"headings come as {headings[:4]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    parser.add_argument("--shots", type=pathlib.Path, default=pathlib.Path("artifacts/page"), help="folder for pictures")
    parser.add_argument("--readme", type=pathlib.Path, help="write the picture of the README here, and look at nothing")
    arguments = parser.parse_args()
    if arguments.readme:
        driver = browser()
        resize(driver, (1280, 900))
        driver.get(arguments.pages[0].resolve().as_uri())
        arguments.readme.write_bytes(driver.get_screenshot_as_png())
        driver.quit()
        return
    failed = False
    for page in arguments.pages:
        shots = arguments.shots / page.stem
        shots.mkdir(parents=True, exist_ok=True)
        # A browser of its own, so that no page sees what another left.
        driver = browser()
        try:
            wrong = look(driver, page.resolve(), shots)
        finally:
            driver.quit()
        for line in wrong:
            print(f"wrong: {page.name}: {line}", file=sys.stderr)
        failed |= bool(wrong)
        print(f"{page}: {len(wrong) or 'nothing'} wrong in {len(WIDTHS)} widths, light and dark; pictures in {shots}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
