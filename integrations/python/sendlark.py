"""A client for Sendlark in one file, without dependencies: copy it. Python 3.9 or newer.

Its key pair needs the scope `contacts`, for `send` the scope `transactional`, and for `list` the scope `read`.
Only requests that can be repeated without a second effect are tried again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from typing import Any, Iterator, Mapping, Optional, Sequence, Union
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

_PART = 1000
_MAX_WAIT_S = 30
_TOLERANCE_S = 300
_MIN_KEY_BYTES = 16


class SendlarkError(Exception):
    """An answer that is no success. `errors` is a text, or a dict of texts by field."""

    def __init__(self, status: int, errors: Any) -> None:
        super().__init__(f"Sendlark answered {status}: {errors}")
        self.status = status
        self.errors = errors


class _NoRedirect(HTTPRedirectHandler):
    """Answers a redirect as an error: the keys go to no other address, and a POST does not become a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Sendlark:
    """A service at an address such as https://mail.example.com, with a key pair."""

    def __init__(
        self, url: str, public_key: str, secret_key: str, *, attempts: int = 4, timeout: float = 30
    ) -> None:
        self._url = url.rstrip("/")
        self._keys = {"PublicKey": public_key, "SecretKey": secret_key}
        self._attempts = attempts
        self._timeout = timeout
        self._open = build_opener(_NoRedirect).open

    def upsert(self, contact_type_id: int, contacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Adds up to 1 000 contacts to a list, or changes those with the same address. Each has its own outcome."""
        body = {"contact_type_id": contact_type_id, "contacts": list(contacts)}
        return self._call("POST", "/contacts/upsert", body, repeats=True)

    def subscribe(self, email: str, **fields: Any) -> str:
        """Asks somebody by mail to confirm a subscription. Needs form_id or contact_type_id. Returns the state
        (asked, subscribed or suppressed), which whoever typed the address must not see."""
        return self._call("POST", "/contacts/subscribe", {"email": email, **fields}, repeats=True)["state"]

    def record(
        self, events: Sequence[Mapping[str, Any]], contact_type_id: Optional[int] = None
    ) -> dict[str, Any]:
        """Records up to 1 000 events, all of them or none. Tried again only if every event has a key. Contacts who
        are not known yet are added to the list."""
        body: dict[str, Any] = {"events": list(events)}
        if contact_type_id is not None:
            body["contact_type_id"] = contact_type_id
        return self._call("POST", "/events", body, repeats=all(event.get("key") for event in events))

    def send(self, mail: Mapping[str, Any], key: Optional[str] = None) -> dict[str, Any]:
        """Sends a transactional mail once. Give a key that follows from your order to send once also over restarts."""
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        return self._call("POST", "/transactional/send", dict(mail), repeats=True, headers=headers)

    def list(self, path: str, name: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Reads a list such as /contacts/list, whose records are under `name`, part by part."""
        after: dict[str, Any] = {}
        while True:
            part = urlencode({**query, "limit": _PART, **after})
            items = self._call("GET", f"{path}?{part}", None, repeats=True)[name]
            yield from items
            if len(items) < _PART:
                return
            after = {"after_id": items[-1]["id"]}

    def _call(
        self,
        method: str,
        path: str,
        body: Optional[dict[str, Any]],
        *,
        repeats: bool,
        headers: Optional[Mapping[str, str]] = None,
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        sent = {**self._keys, **(headers or {})}
        if data is not None:
            sent["Content-Type"] = "application/json"
        attempt = 0
        while True:
            attempt += 1
            is_last = not repeats or attempt >= self._attempts
            wait: float = 2 ** (attempt - 1)
            try:
                request = Request(f"{self._url}/api{path}", data, sent, method=method)
                with self._open(request, timeout=self._timeout) as answer:
                    text = answer.read()
                message = _message(text)
                if message is not None:
                    return message
                # A page of a proxy is no success.
                if is_last:
                    raise SendlarkError(answer.status, _errors(text))
            except HTTPError as error:
                with error:
                    if is_last or (error.code != 429 and error.code < 500):
                        raise SendlarkError(error.code, _errors(error.read())) from None
                    after = error.headers.get("Retry-After") or ""
                    wait = float(after) if after.isdigit() else wait
            except (URLError, HTTPException, TimeoutError, ConnectionError):
                if is_last:
                    raise
            time.sleep(min(wait, _MAX_WAIT_S))


def _message(body: bytes) -> Any:
    """The message of an answer of Sendlark; None if the body is anything else."""
    answer = _parsed(body)
    return answer.get("message") if answer.get("status") == "success" else None


def _errors(body: bytes) -> Any:
    return _parsed(body).get("errors", "no JSON of Sendlark")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def verify_webhook(
    body: Union[bytes, str], headers: Mapping[str, str], secret: str, now: Optional[float] = None
) -> dict[str, Any]:
    """Returns the event of a webhook's request. Raises ValueError if it was not signed with this secret within five
    minutes, or if the secret is none of a webhook: with an empty or short one anybody could sign. `body` is the body as
    it arrived; `secret` is as it was shown, with whsec_."""
    raw = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    stamp = given.get("webhook-timestamp", "")
    signed = f"{given.get('webhook-id', '')}.{stamp}.".encode() + raw
    key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    if len(key) < _MIN_KEY_BYTES:
        raise ValueError("the secret is not that of a webhook")
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = given.get("webhook-signature", "").encode().split(b" ")
    is_signed = any([hmac.compare_digest(one, expected) for one in signatures])
    is_recent = stamp.isdigit() and abs((time.time() if now is None else now) - int(stamp)) <= _TOLERANCE_S
    if not (is_signed and is_recent):
        raise ValueError("the webhook is not signed, or not recently")
    return json.loads(raw)
