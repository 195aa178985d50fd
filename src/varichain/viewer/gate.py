"""The gate of the viewer: which requests are answered, by address, origin and token.

A viewer on loopback is within reach of every page that the user's browser has open. So nothing is served without the
token, which is a part of the printed address, and a request that names another machine or another page is refused.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Sequence

_TOKEN = 24  # random bytes of a token
_SCHEMES = ("http://", "https://")  # https: of a proxy that ends the encryption
_LOCAL_PAGES = "http://localhost:* http://127.0.0.1:* http://[::1]:* https://localhost:* vscode-webview:"
# viser's page is one file with scripts and styles in it, and makes workers of texts.
_POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors "
)


class Gate:
    """Tokens of a viewer, and the names that it may be called by.

    Attributes:
        token: Part of the address that a browser opens; its page cannot be framed.
        frame_token: Part of the address that a notebook frames; pages of this machine can frame its page.
    """

    def __init__(self, host: str) -> None:
        """Draw the tokens of a viewer that listens at `host`."""
        self.token, self.frame_token = secrets.token_urlsafe(_TOKEN), secrets.token_urlsafe(_TOKEN)
        self._is_local = _is_loopback(host)
        own = () if self._is_local else (socket.gethostname(), f"{socket.gethostname()}.local")
        self._names = {name.lower() for name in (host, "localhost", *own)}

    def refusal(self, path: str, hosts: Sequence[str], origins: Sequence[str], is_socket: bool) -> str | None:
        """Why a request is refused, None if it is not.

        Args:
            path: Path of the request, without its query.
            hosts: Its headers `Host`.
            origins: Its headers `Origin`; browsers send one with every websocket.
            is_socket: Whether it opens a websocket.
        """
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return "this viewer is not served under that name"
        own = [scheme + hosts[0].lower() for scheme in _SCHEMES]
        if len(origins) > 1 or (is_socket and not origins):
            return "a websocket has one origin"
        if any(origin.lower() not in own for origin in origins):
            return "pages of other origins cannot use this viewer"
        if self.rest(path) is None:
            return "open the whole address that the viewer printed, with its token"
        return None

    def rest(self, path: str) -> str | None:
        """What follows the token in a path; None without a right token."""
        given, slash, rest = path.removeprefix("/").partition("/")
        is_right = any(hmac.compare_digest(given.encode(), token.encode()) for token in (self.token, self.frame_token))
        return slash + rest if is_right else None

    def headers(self, path: str) -> dict[str, str]:
        """Headers of every answer: what the page may load, who may frame it, and that nothing is passed on."""
        is_framed = hmac.compare_digest(path.split("/")[1][:64].encode(), self.frame_token.encode())
        framing = {} if is_framed else {"X-Frame-Options": "DENY"}
        return framing | {
            "Content-Security-Policy": _POLICY + (_LOCAL_PAGES if is_framed else "'none'"),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    def _is_own(self, host: str) -> bool:
        """Whether a header `Host` is this machine; a number cannot be another's name, so DNS cannot lie about it."""
        name = host.lower().rsplit(":", 1)[0] if not host.endswith("]") else host.lower()
        if name in self._names:
            return True
        try:
            number = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return number.is_loopback or not self._is_local


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
