"""A headless Chromium, driven by its debugging protocol over two pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

from pages import CHROMIUM

PATIENCE = 20  # seconds that a page may take for anything


class Browser:
    """One browser with one page. Messages of its console are kept in `console`."""

    def __init__(self, folder, width=1280, height=900):
        self.profile = folder / "profile"
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        # It takes 3 and 4.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", CHROMIUM, "--headless",
             "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--window-size={width},{height}",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.console, self.session = 0, b"", [], None
        (target,) = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, RuntimeError):
            self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._read(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("method") == "Runtime.exceptionThrown":
                self.console.append(answer["params"]["exceptionDetails"])
            if answer.get("method") == "Log.entryAdded":
                self.console.append(answer["params"]["entry"])
            if answer.get("method") == "Page.javascriptDialogOpening":
                os.write(self.to, json.dumps({"id": 0, "sessionId": self.session, "params": {"accept": True},
                                              "method": "Page.handleJavaScriptDialog"}).encode() + b"\0")

    def run(self, script):
        """The value of an expression, of a promise when it is settled."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:2000])
        return done["result"].get("value")

    def wait(self, condition):
        """Until an expression is true; its value."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            value = self.run(condition)
            if value:
                return value
            time.sleep(0.03)
        raise RuntimeError(f"never: {condition}; {self.console}")

    def go(self, address):
        self.call("Page.navigate", url=address)

    def place(self, selector):
        """The middle of an element, in view."""
        return self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}}); const b = e.getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2, b.x, b.y, b.width, b.height]; }})()""")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, button="left",
                  buttons=0 if kind == "Released" else 1, clickCount=1)

    def click(self, selector):
        x, y = self.place(selector)[:2]
        self.click_at(x, y)

    def click_at(self, x, y):
        self.mouse("Pressed", x, y)
        self.mouse("Released", x, y)

    def drag(self, a, b):
        self.mouse("Pressed", *a)
        for i in range(1, 6):
            self.mouse("Moved", a[0] + (b[0] - a[0]) * i / 5, a[1] + (b[1] - a[1]) * i / 5)
        self.mouse("Released", *b)

    CODES = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Delete": 46, "Home": 36}

    def key(self, name, control=False, shift=False, alt=False):
        code = self.CODES.get(name, ord(name.upper()) if len(name) == 1 else 0)
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                      modifiers=alt + 2 * control + 8 * shift)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self):
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
