"""Makes the pictures of the documentation from a fresh demo study: `make screenshots`.

Looks at the running site with chromium and writes `docs/images/*.png`, reduced to 256 colours.
DISSENSUS_TEST_CHROMIUM names the browser where it is not Debian's.
"""

import io
import os
import sys

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.demo_site import ROOT, DemoSite, demo_site

IMAGES = ROOT / "docs" / "images"
CHROMIUM = os.environ.get("DISSENSUS_TEST_CHROMIUM", "/usr/bin/chromium")
LARGEST_BYTES = 150_000


def main() -> None:
    with demo_site() as site, sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        picture_judging(log_in(browser, site, "ana"), site.address)
        picture_results(log_in(browser, site, "lia"), site.address)
        browser.close()


def log_in(browser: Browser, site: DemoSite, name: str) -> Page:
    size = {"width": 1280, "height": 800}
    page = browser.new_page(viewport=size, color_scheme="light", locale="en")
    page.goto(f"{site.address}/login/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(site.passwords[name])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.address}/")
    return page


def picture_judging(page: Page, address: str) -> None:
    page.goto(f"{address}/studies/demo/judge/")
    page.keyboard.press("2")
    page.keyboard.press("A")
    keep(page, "judge")


def picture_results(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 1060})
    page.goto(f"{address}/studies/demo/results/")
    keep(page, "results")
    page.goto(f"{address}/studies/demo/results/splits/pairs/")
    keep(page, "splits")


def keep(page: Page, name: str) -> None:
    """Write what the window shows. Ends the program for a picture that is too large."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    target = IMAGES / f"{name}.png"
    picture.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    size = target.stat().st_size
    print(f"{target.relative_to(ROOT)}: {size:,} bytes")
    if size > LARGEST_BYTES:
        sys.exit(f"{target.name} is larger than {LARGEST_BYTES:,} bytes; show less of the page.")


if __name__ == "__main__":
    main()
