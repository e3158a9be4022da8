"""A headless Chromium that opens one page, driven through its debugging pipe: no package is needed but the browser."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    return os.environ.get("ELBOWROOM_CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """Use as a context: the browser ends with it. `complaints` holds what the console said and what was thrown."""

    def __init__(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.path, self.size, self.dark = path, (width, height), dark
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Page:
        self.folder = tempfile.mkdtemp(prefix="elbowroom-chromium-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                     "--force-device-scale-factor=1", "--hide-scrollbars", f"--user-data-dir={self.folder}", "--remote-debugging-pipe"]

        def pipes() -> None:
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        # Descriptors 3 and 4 are where the browser looks for the pipe; they may be in use here, so they are made after the fork.
        self.browser = subprocess.Popen([find() or "chromium", *arguments], pass_fds=(3, 4), preexec_fn=pipes, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number = b"", 0
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.kill()
        self.browser.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self) -> None:
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.measure(*self.size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}])
        self.call("Page.navigate", url=self.path.resolve().as_uri())
        self.until("document.body && document.body.dataset.ready")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.next(deadline)
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(argument.get("value")) for argument in parameters["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition: str, seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline or self.complaints:
                raise TimeoutError(f"not so: {condition}; {self.complaints}")
            time.sleep(0.05)

    def measure(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def size_to(self, width: int, height: int) -> None:
        """A window of another size, its pictures drawn for it."""
        self.measure(width, height)
        self.until(f"innerWidth === {width} && innerHeight === {height}")
        self.until("[...document.querySelectorAll('.picture')].every((one) => !one.firstChild || one.firstChild.clientWidth === Math.floor(one.clientWidth))")

    def press(self, key: str, text: str | None = None, modifiers: int = 0) -> None:
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path: Path, box: dict[str, float] | None = None) -> None:
        clip = {"clip": {**box, "scale": 1}} if box else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=bool(box), **clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def print_pdf(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
