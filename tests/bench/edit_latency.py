#!/usr/bin/env python3
"""Times `smempipe edit` in headless Chromium: from a slider's input event to the frame that shows the new picture.

    edit_latency.py SMEMPIPE [PICTURE [WIDTHxHEIGHT]]

Without PICTURE, of 24 megapixels made from samples/rocket.jpg. Prints for each pipeline, of 20 changes half a second
after the one before was whole: the median and the worst until a picture of the new value (which may be a preview) is
shown, and the median until the exact one is."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from chromium import Browser  # pylint: disable=wrong-import-position

CHANGES = 20
# What is in front of the step whose slider moves, the step, and its parameter.
PIPELINES = [("", "gamma 1.2", "g"), ("", "levels white=90%", "white"),
             ("gaussian 2px\n", "levels white=90%", "white"), ("equalize\n", "saturate 130%", "amount"),
             ("", "levels white=90%\nsaturate 130%\nequalize", "white"), ("resize 50%\n", "saturate 130%", "amount"),
             ("", "gaussian 2px", "sigma"), ("", "sharpen 1", "amount")]

# Resolves when the picture of a change is on the screen: canvas.dataset.drawn changes when it is painted, the frame
# after the next has shown it.
WATCH = """window.timed = slider => new Promise(done => {
  const canvas = document.getElementById("canvas"), times = {};
  const after = f => requestAnimationFrame(() => requestAnimationFrame(f));
  slider.addEventListener("input", event => { times.began = event.timeStamp; }, {once: true, capture: true});
  const watch = new MutationObserver(() => {
    if (!times.began) return;
    const whole = canvas.dataset.preview !== "yes";
    after(() => {
      const now = performance.now() - times.began;
      times.first ??= now;
      if (whole) { watch.disconnect(); done([times.first, now]); }
    });
  });
  watch.observe(canvas, {attributes: true, attributeFilter: ["data-drawn"]});
})"""


def measure(browser, program, folder, picture, pipeline):
    front, step, param = pipeline
    (folder / "p.pipe").write_text(front + step + "\n")
    server = subprocess.Popen([program, "edit", picture, folder / "p.pipe", "--no-open"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    browser.call("Page.navigate", url=server.stdout.readline().strip())
    browser.wait("document.body && document.body.dataset.ready")
    browser.click(f"#steps li:nth-child({front.count(chr(10)) + 1}) button.name")
    slider = f"[data-param={param}] input[type=range]"
    browser.run(WATCH)
    browser.run(f"document.querySelector('{slider}').focus()")
    first, whole = [], []
    for change in range(CHANGES + 1):
        time.sleep(0.5)
        browser.run(f"void (window.result = timed(document.querySelector('{slider}')))")
        browser.key("ArrowRight" if change % 2 else "ArrowLeft")
        a, b = browser.run("window.result")
        if change:  # the first keeps the picture in front of the step
            first.append(a)
            whole.append(b)
    browser.call("Page.navigate", url="about:blank")
    server.wait()
    print(f"{(front + step).replace(chr(10), ', '):34} first {statistics.median(first):5.0f} ms (worst "
          f"{max(first):5.0f}), exact {statistics.median(whole):5.0f} ms", flush=True)


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    program = os.path.abspath(sys.argv[1])
    width, height = map(int, (sys.argv[3] if len(sys.argv) > 3 else "1920x1080").split("x"))
    with tempfile.TemporaryDirectory(prefix="edit-latency-") as folder:
        folder = pathlib.Path(folder)
        picture = sys.argv[2] if len(sys.argv) > 2 else folder / "large.png"
        if len(sys.argv) < 3:
            subprocess.run([program, "run", "-e", "resize width=6000px height=4000px", ROOT / "samples/rocket.jpg",
                            picture, "-q"], check=True)
        browser = Browser(folder, width, height)
        for pipeline in PIPELINES:
            measure(browser, program, folder, picture, pipeline)
        browser.close()


if __name__ == "__main__":
    main()
