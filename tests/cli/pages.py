"""Pages as tests read them: their data, their plain table, and, where there is a browser, what their script draws."""
import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
import unittest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = unittest.skipUnless(CHROMIUM, "no chromium here")


class Page(html.parser.HTMLParser):
    """The text of a page, and the rows of its table of files: as they are seen, and with all digits. Fails on tags that
    are not closed."""
    EMPTY = {"meta", "img", "input", "br"}
    LINES = {"h1", "h2", "h3", "p", "li", "dd"}  # end a line

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.rows, self.seen, self.tags, self.table = [], "", [], [], {}, False
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.table |= ("id", "files") in attributes
        if self.table and tag == "tr":
            self.rows.append([])
            self.seen.append([])
        if self.table and tag in ("td", "th"):
            self.whole = dict(attributes).get("data-v", "")
            self.rows[-1].append(self.whole)
            self.seen[-1].append("")

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag, tag
        self.text += "\n" if tag in self.LINES else ""
        self.table &= tag != "table"

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data
        if self.table and self.rows and self.rows[-1]:
            self.seen[-1][-1] += data.strip()
            if self.open[-1] == "button" or not self.whole:
                self.rows[-1][-1] += data.strip()


DATA = re.compile('(<script type="application/json" id="data" data-view="(\\w+)">)(.*?)(</script>)', re.S)


def data_of(text):
    """The page's data."""
    ((_, _, data, _),) = DATA.findall(text)
    return json.loads(data)


def with_data(text, view, data):
    """The page with other data."""
    fresh = json.dumps(data).replace("<", "\\u003c")
    head = f'<script type="application/json" id="data" data-view="{view}">'
    return DATA.sub(lambda found: f"{head}{fresh}</script>", text)


def sha256_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_page(case, text):
    """That a page is whole, reaches for nothing outside, and lets no scripts and styles but its own run."""
    Page(text)
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1].split("; ")
    (style,), (script,) = (re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S) for tag in ("style", "script"))
    case.assertEqual(policy, ["default-src 'none'", "img-src data:", f"style-src 'sha256-{sha256_of(style)}'",
                              f"script-src 'sha256-{sha256_of(script)}'", "base-uri 'none'", "form-action 'none'"])
    outside = text.replace("http://www.w3.org/2000/svg", "")
    case.assertIsNone(re.search(r"https?:|url\(|@import|<link|<iframe|innerHTML|insertAdjacent|eval\(", outside))
    case.assertEqual((text.count("<script"), text.count("</script")), (2, 2))


def drawn(case, text, probe="", width=1280):
    """The page as a browser draws it, without any message of its console. probe: a script that runs after the page's
    own."""
    if not CHROMIUM:
        case.skipTest("no chromium here")
    if probe:
        text = text.replace("script-src ", f"script-src 'sha256-{sha256_of(probe)}' ", 1)
        text = text.replace("</body>", f"<script>{probe}</script></body>")
    page = case.write("drawn.html", text)
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--window-size={width},900", "--virtual-time-budget=2000", f"--user-data-dir={case.folder / 'profile'}",
         "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    page.unlink()
    shutil.rmtree(case.folder / "profile", ignore_errors=True)
    case.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
    case.assertIn("</main>", done.stdout, done.stderr[-2000:])
    return done.stdout
