"""`smempipe edit`, and other commands, as they serve: what a page asks, and what somebody else might."""
import http.client
import json
import pathlib
import signal
import socket
import subprocess
import unittest

from harness import PROGRAM, CliCase


class EditCase(CliCase):
    def serve(self, *arguments, where="", command="edit", **options):
        """Starts it in the test's folder, or one below it; its address is kept."""
        self.process = subprocess.Popen([PROGRAM, command, *map(str, arguments), "--no-open"], cwd=self.folder / where,
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self.stop)
        self.address = next((line.strip() for line in self.process.stdout if line.startswith("http")), "")
        if not self.address and "built without libmicrohttpd" in self.process.stderr.read():
            raise unittest.SkipTest("a build without libmicrohttpd")
        self.assertRegex(self.address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        self.origin, self.path = self.address[:-34], self.address[-34:]
        self.port = int(self.origin.rsplit(":", 1)[1])

    def stop(self):
        """Ends it as Ctrl-C does; its exit status and what it said."""
        if self.process.stdout.closed:
            return None
        self.process.send_signal(signal.SIGINT)
        try:
            _, said = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, said

    def ask(self, name, body=None, method="POST", path=None, timeout=60, **headers):
        """(status, headers, data) of a request as the page makes it; a header of None is left out."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent |= {"Origin": self.origin, "Content-Type": "application/json", "X-Smempipe": "edit"}
        for key, value in headers.items():
            sent[key.replace("_", "-")] = value
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.putrequest(method, (self.path if path is None else path) + name, skip_host=True,
                              skip_accept_encoding=True)
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode() if method == "POST" else b""
        if method == "POST" and "Content_Length" not in headers:
            sent["Content-Length"] = str(len(data))
        for key, value in sent.items():
            if value is not None:
                connection.putheader(key, value)
        connection.endheaders()
        if data:
            try:
                connection.send(data)
            except OSError:  # refused by its head
                pass
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def told(self, name, /, **body):
        status, _, data = self.ask(name, body)
        self.assertEqual(status, 200, data)
        return json.loads(data)

    def raw(self, data, wait=5):
        """What comes back for bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            connection.sendall(data)
            connection.settimeout(wait)
            try:
                return connection.recv(65536)
            except OSError:
                return b""

    def reads(self, name):
        return pathlib.Path(self.folder / name).read_text()
