#!/usr/bin/env python3
"""Writes a Python client for the API of Sendlark, from the OpenAPI document of a running service.

    python3 scripts/clients/python.py https://mail.example.com/docs/openapi.json > sendlark.py

The client is one module that needs nothing but Python 3.9. It has a method for each operation, with its
parameters as keyword arguments and its answer as typed dictionaries.
"""

import json
import keyword
import re
import sys
import urllib.request

HEAD = '''"""A client for the API of Sendlark, written by scripts/clients/python.py. Do not change it: write it again."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Literal, Optional, TypedDict, Union


class SendlarkError(Exception):
    """What the service refused: the HTTP status, and its text or the texts of each faulty field."""

    def __init__(self, status: int, errors: Any) -> None:
        super().__init__(f"{status}: {errors}")
        self.status = status
        self.errors = errors


class Sendlark:
    """Calls the API at an address such as https://mail.example.com with a pair of keys."""

    def __init__(self, url: str, public_key: str, secret_key: str, timeout: float = 60) -> None:
        self._url = url.rstrip("/")
        self._headers = {"PublicKey": public_key, "SecretKey": secret_key, "Accept": "application/json"}
        self._timeout = timeout

    def _call(
        self, method: str, path: str, query: dict, body: Optional[dict], is_form: bool, own: Optional[dict] = None
    ) -> Any:
        headers = {**self._headers, **{name: value for name, value in (own or {}).items() if value is not None}}
        given = {name: value for name, value in query.items() if value is not None}
        url = self._url + path + ("?" + urllib.parse.urlencode(given, doseq=True) if given else "")
        data = None
        if body is not None:
            fields = {name: value for name, value in body.items() if value is not None}
            if is_form:
                boundary = secrets.token_hex(16)
                headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
                data = _form(fields, boundary)
            else:
                headers["Content-Type"] = "application/json"
                data = json.dumps(fields).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return _message(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return _message(error.code, error.headers, error.read())
'''

TAIL = '''

def _message(status: int, headers: Any, content: bytes) -> Any:
    """What is in the envelope of an answer; a file as bytes."""
    if headers.get_content_type() != "application/json":
        if status == 200:
            return content
        raise SendlarkError(status, content.decode(errors="replace"))
    answer = json.loads(content)
    if answer.get("status") != "success":
        raise SendlarkError(status, answer.get("errors"))
    return answer.get("message", answer.get("errors"))


def _form(fields: dict, boundary: str) -> bytes:
    """A multipart form; a file is its name and its bytes."""
    parts = []
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            file, content = one if isinstance(one, tuple) else (None, str(one).encode())
            named = f'; filename="{file}"' if file else ""
            head = f'--{boundary}\\r\\nContent-Disposition: form-data; name="{name}"{named}\\r\\n\\r\\n'
            parts.append(head.encode() + content + b"\\r\\n")
    return b"".join(parts) + f"--{boundary}--\\r\\n".encode()
'''

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def type_of(schema):
    """The type of a value, as Python writes it."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    options = schema.get("anyOf") or schema.get("oneOf")
    if options is None and isinstance(schema.get("type"), list):
        options = [{**schema, "type": name} for name in schema["type"]]
    if options is not None:
        return f"Union[{', '.join(dict.fromkeys(type_of(option) for option in options))}]"
    if schema.get("format") == "binary" or schema.get("contentMediaType") == "application/octet-stream":
        return "tuple[str, bytes]"
    if schema.get("type") == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {type_of(values) if isinstance(values, dict) else 'Any'}]"
    return PLAIN.get(schema.get("type"), "Any")


def argument(name):
    """The name of a parameter as an argument; of a header in lower case."""
    plain = re.sub(r"\W", "_", name.lower() if "-" in name else name)
    return plain + "_" if keyword.iskeyword(plain) or plain == "self" else plain


def text_of(*lines):
    """A text within three quotes."""
    return "\n".join(line for line in lines if line).replace("\\", "\\\\").replace('"""', "'''")


def record(name, schema):
    """The type of a record."""
    fields = [f"    {field!r}: {type_of(part)!r}," for field, part in schema["properties"].items()]
    return "\n".join([f"{name} = TypedDict({name!r}, {{", *fields, "}, total=False)"])


def resolved(schemas, schema):
    """A schema in place of its name."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[-1]]
    return schema


def method(schemas, path, verb, operation):
    """The method of an operation."""
    contents = operation.get("requestBody", {}).get("content", {})
    is_form = "multipart/form-data" in contents and "application/json" not in contents
    body = resolved(schemas, next(iter(contents.values()))["schema"]) if contents else {}
    placed = lambda place: [
        (one["name"], one["schema"], one.get("required", False))
        for one in operation.get("parameters", [])
        if one["in"] == place
    ]
    query, headers = placed("query"), placed("header")
    inside = [(name, part, name in body.get("required", [])) for name, part in body.get("properties", {}).items()]
    # An operation whose query and body name the same parameter gets it in both.
    given = {name: (part, required) for name, part, required in [*query, *headers, *inside]}
    required = [f"{argument(name)}: {type_of(part)}" for name, (part, is_required) in given.items() if is_required]
    others = [f"{argument(n)}: Optional[{type_of(part)}] = None" for n, (part, is_required) in given.items() if not is_required]
    ok = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
    answer = resolved(schemas, ok).get("properties", {}).get("message", {}) if ok else {}
    about = [f":param {argument(name)}: {part.get('description', '')}" for name, (part, _) in given.items()]
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower()
    values = lambda pairs: "{" + ", ".join(f"{n!r}: {argument(n)}" for n, _, _ in pairs) + "}"
    lines = text_of(operation["summary"], "", operation.get("description", ""), *about).split("\n")
    head = ", ".join(["self", *(["*", *required, *others] if given else [])])
    return "\n".join(
        [
            "",
            f"    def {name}({head}) -> {type_of(answer) if answer else 'Any'}:",
            f'        """{lines[0]}',
            *([""] if len(lines) > 1 else []),
            *(f"        {line}" for line in lines[1:]),
            '        """',
            f"        return self._call({verb.upper()!r}, {path!r}, {values(query)}, {values(inside) if contents else None}, {is_form}{f', {values(headers)}' if headers else ''})",
        ]
    )


def client(document):
    """The module, as text."""
    schemas = document["components"]["schemas"]
    methods = [
        method(schemas, path, verb, operation)
        for path, operations in document["paths"].items()
        for verb, operation in operations.items()
    ]
    records = [record(name, schema) for name, schema in schemas.items() if "properties" in schema]
    # Those that are no records may be named by others.
    others = [f"{name} = {type_of(schema)}" for name, schema in schemas.items() if "properties" not in schema]
    return "\n".join([HEAD, *methods, TAIL, "\n\n".join([*others, *records]), ""])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with urllib.request.urlopen(sys.argv[1], timeout=60) as source:
        print(client(json.load(source)), end="")
