"""Imported by Python at its start: notes every use of the network by this process in the file that a variable names."""

import os
import sys

REPORT = os.environ.get("KNAPPER_TEST_NETWORK_REPORT", "")
WATCHED = frozenset(
    {
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.bind",
        "urllib.Request",
        "http.client.connect",
        "ftplib.connect",
        "smtplib.connect",
        "webbrowser.open",
    }
)


def note(event: str, args: tuple[object, ...]) -> None:
    if event in WATCHED:
        line = f"{event} {args[1:]!r}\n".encode()
        handle = os.open(REPORT, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, line)
        os.close(handle)
        raise ConnectionRefusedError(f"{event} in a server that was not told to use the network")


if REPORT:
    sys.addaudithook(note)
