#!/usr/bin/env python3
"""Makes the pages that smempipe writes, and pictures of them at the widths of a desk and of a phone, light and dark, by
headless Chromium:

    shoot.py SMEMPIPE OUT [PAGE...]

PAGE: compare, kernel, time, measure, batch, explain, edit, edit-folder, edit-sound, edit-scan, kernel-live,
compare-live; all by default.
OUT gets PAGE.html (or .svg) and PAGE-WIDTH-light.webp, and dark ones. Prints the height of each page. Pictures are cut
after 3,000 pixels (a phone's: 2,400)."""
import concurrent.futures
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = {1280: 3000, 390: 2400}  # and where pictures are cut
COLOURS = 96  # of a picture, so that it is small
STEPS = ("-e", "gray", "-e", "gaussian 2px", "-e", "transpose", "-e", "invert")

# A page in a frame of the width wanted: headless windows are never narrower than 500 pixels. It tells its height.
FRAME = """<!doctype html><meta name="color-scheme" content="%s"><style>html,body{margin:0;overflow:hidden}
iframe{border:0;display:block;width:%dpx;height:%dpx}</style><iframe src="%s"></iframe><script>
addEventListener("message", e => document.body.dataset.height = e.data)</script>"""
TELL = """<script>addEventListener("load", () => parent.postMessage(document.documentElement.scrollHeight, "*"))
</script>"""


def make(program, out):
    """How each page is made."""
    samples, series = pathlib.Path("samples"), pathlib.Path("samples/series")
    return {
        "compare": [program, "compare", *STEPS, samples / "rocket.jpg", "--device", "cpu", "--time-limit", "2",
                    "--html", out / "compare.html"],
        "kernel": [program, "kernel", samples / "kernels/transpose.cu", "--html", out / "kernel.html"],
        "time": [program, "kernel", samples / "kernels/transposes.cu", "--time", "--what-if", "--compare", "--html",
                 out / "time.html"],
        "measure": [program, "measure", "-e", "stats name=colour", "-e", "histogram bins=64 name=light", "-e", "gray",
                    "-e", "laplacian", "-e", "stats name=sharpness", samples, "-r", "--include", "*.png", "--include",
                    "*.jpg", "--html", out / "measure.html"],
        "batch": [program, "batch", "-e", "sharpen", series, "-o", os.path.relpath(out / "batch", ROOT), "--html",
                  out / "batch.html"],
        "explain": [program, "explain", "edges", samples / "camera.png", "--svg", out / "explain.svg"],
    }


def browse(folder, dark, size, *arguments):
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}",
               f"--user-data-dir={folder}/profile", "--allow-file-access-from-files"]
    if dark:
        command.append("--blink-settings=preferredColorScheme=0")
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120, check=False)


def shoot(program, page, out, width, dark):
    """One picture; returns the page's height."""
    scheme = "dark" if dark else "light"
    with tempfile.TemporaryDirectory(dir=out, prefix=".shoot-") as folder:
        folder = pathlib.Path(folder)
        text = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())  # TELL is not its own
        if page.suffix == ".svg":
            fit = "<style>svg{max-width:100%;height:auto}body{margin:0}</style>"
            text = f'<!doctype html><meta name="color-scheme" content="light dark">{fit}<body>{text}'
        (folder / "page.html").write_text(text + TELL)
        frame = folder / "frame.html"
        frame.write_text(FRAME % (scheme, width, 1000, html.escape("page.html")))
        told = re.search(r'data-height="(\d+)"', browse(folder, dark, "1280,1000", "--virtual-time-budget=2000",
                                                        "--dump-dom", frame.as_uri()).stdout)
        if not told:
            raise SystemExit(f"{page}: Chromium did not tell its height")
        height = int(told[1])
        frame.write_text(FRAME % (scheme, width, height, "page.html"))
        raw = folder / "raw.png"
        browse(folder, dark, f"{max(width, 500)},{min(height, WIDTHS[width])}", "--virtual-time-budget=2000",
               f"--screenshot={raw}", frame.as_uri())
        cut = f"crop anchor=top-left width={width}px height={min(height, WIDTHS[width])}px"
        subprocess.run([program, "run", "-e", "alpha drop", "-e", cut, "-e", f"palette {COLOURS}", raw,
                        out / f"{page.stem}-{width}-{scheme}.webp", "--lossless", "--force", "-q"], check=True)
    return height


EDITED = """# A cat for the wall
param soft = 1.5px help="how soft the fur becomes"
median 3px  # grain goes first
gaussian $soft
levels black=4% white=90%
# off: gray
saturate 130%
"""


def many(browser):
    browser.click("#many")
    browser.wait("document.querySelectorAll('#nine figure[data-drawn]').length === 9")


def hear(browser):
    browser.run("(() => { const e = document.getElementById('look'); e.value = 'spectrogram'; "
                "e.dispatchEvent(new Event('input')); })()")
    browser.wait("document.getElementById('canvas').dataset.look === 'spectrogram'")
    browser.click("#steps li:nth-child(1) button.name")


def pad(browser):
    browser.run("document.getElementById('pad').focus()")
    browser.key("ArrowRight")
    browser.wait("document.getElementById('live').dataset.pad === '1'")
    browser.run("document.activeElement.blur()")


# What serves the page, the text of wall.pipe, what is done on the page then, and the height of a phone's picture.
SERVED = {
    "edit": (["edit", "cat.png", "wall.pipe"], EDITED,
             lambda browser: browser.click("#steps li:nth-child(4) button.name"), 1500),
    "edit-folder": (["edit", "photos", "wall.pipe"], "saturate 150%\ngaussian 1px\n", many, 1100),
    "edit-sound": (["edit", "field.flac", "wall.pipe"], "highpass 120Hz\ncompress -20dB\nnormalize\n", hear, 1100),
    "edit-scan": (["edit", "page.jpg", "scan-clean"], "",
                  lambda browser: browser.click("#steps li:last-child button.name"), 1100),
    "kernel-live": (["kernel", "transpose.cu", "--serve", "-q"], "", pad, 1100),
    "compare-live": (["compare", *STEPS, "rocket.jpg", "--device", "cpu", "--time-limit", "2", "--serve", "-q"], "",
                     pad, 1100),
}


def shoot_served(program, out, name):
    """A page that is served, as SERVED has it."""
    sys.path.insert(0, str(ROOT / "tests/cli"))
    from chromium import Browser  # pylint: disable=import-outside-toplevel
    words, text, prepare, high = SERVED[name]
    with tempfile.TemporaryDirectory(prefix="shoot-") as folder:
        folder = pathlib.Path(folder)
        shutil.copy(ROOT / "samples/chelsea.png", folder / "cat.png")
        for sample in ("field.flac", "page.jpg", "rocket.jpg", "kernels/transpose.cu"):
            shutil.copy(ROOT / "samples" / sample, folder)
        (folder / "photos").mkdir()
        for sample in [*(ROOT / "samples").glob("*.png"), *(ROOT / "samples").glob("*.jpg")]:
            shutil.copy(sample, folder / "photos")
        for hue in range(40, 320, 40):
            subprocess.run([program, "run", "-e", f"modulate hue={hue}deg", ROOT / "samples/rocket.jpg",
                            folder / f"photos/sky-{hue}.jpg", "-q"], check=True)
        (folder / "wall.pipe").write_text(text)
        server = subprocess.Popen([program, *words, "--no-open"], cwd=folder, text=True, stdout=subprocess.PIPE)
        browser = Browser(folder)
        browser.call("Page.navigate", url=next(line.strip() for line in server.stdout if line.startswith("http")))
        browser.wait("document.body && document.body.dataset.ready")
        prepare(browser)
        for width, height in ((1280, 800), (390, high)):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                         mobile=False)
            for scheme in ("light", "dark"):
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.run("new Promise(r => setTimeout(r, 700))")
                (folder / "raw.png").write_bytes(browser.picture())
                subprocess.run([program, "run", "-e", "palette 256", folder / "raw.png",
                                out / f"{name}-{width}-{scheme}.webp", "--lossless", "--force", "-q"], check=True)
        browser.close()
        server.terminate()
        server.wait()


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    if not CHROMIUM:
        raise SystemExit("there is no chromium here: apt-get install chromium")
    program, out = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    commands = make(program, out)
    wanted = sys.argv[3:] or [*commands, *SERVED]
    jobs = []
    for name in [name for name in wanted if name in SERVED]:
        wanted.remove(name)
        shoot_served(program, out, name)
    for name in wanted:
        if name not in commands:
            raise SystemExit(f"no page '{name}': {', '.join(commands)}")
        subprocess.run([*map(str, commands[name]), "--force"], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        page = out / f"{name}{'.svg' if name == 'explain' else '.html'}"
        jobs += [(program, page, out, width, dark) for width in WIDTHS for dark in (False, True)]
    shutil.rmtree(out / "batch", ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, height in zip(jobs, pool.map(lambda job: shoot(*job), jobs)):
            print(f"{job[1].stem} at {job[3]} px, {'dark' if job[4] else 'light'}: {height} px high")


if __name__ == "__main__":
    main()
