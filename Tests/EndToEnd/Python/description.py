"""Validates the OpenRPC document of a running server against the OpenRPC schema, and checks rules that the schema cannot express."""

import json
import pathlib
import sys

import jsonschema
import requests

# External references in the OpenRPC schema, which denote JSON Schema draft-07.
META = {"https://meta.json-schema.tools", "https://meta.json-schema.tools/"}


def localized(node):
    """Replaces external references in the schema."""
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str) and reference in META:
            return {"$ref": "http://json-schema.org/draft-07/schema#"}
        if isinstance(reference, str) and reference.startswith("https://meta.json-schema.tools/#/"):
            return {"type": "string"}
        return {key: localized(value) for key, value in node.items()}
    if isinstance(node, list):
        return [localized(element) for element in node]
    return node


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for element in node:
            yield from references(element)


def resolve(document, reference):
    assert reference.startswith("#/"), f"{reference} is external"
    node = document
    for part in reference[2:].split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def check_method(document, method):
    def validate(value, schema, what):
        embedded = {**schema, "components": document["components"]}
        jsonschema.Draft7Validator.check_schema(embedded)
        errors = [error.message for error in jsonschema.Draft7Validator(embedded).iter_errors(value)]
        assert not errors, f"{method['name']}, {what}: {errors[:3]}"

    params = method["params"]
    names = [param["name"] for param in params]
    assert len(names) == len(set(names)), f"{method['name']} has duplicate parameters"
    required = [param.get("required", False) for param in params]
    assert required == sorted(required, reverse=True), f"{method['name']} has optional parameters before required ones"
    codes = [error["code"] for error in method.get("errors", [])]
    assert len(codes) == len(set(codes)), f"{method['name']} has duplicate error codes"
    assert method.get("examples"), f"{method['name']} has no example"
    schemas = {param["name"]: param["schema"] for param in params}
    for example in method["examples"]:
        for param in example["params"]:
            validate(param["value"], schemas[param["name"]], f"{example['name']}, {param['name']}")
        validate(example["result"]["value"], method["result"]["schema"], f"{example['name']}, the result")


def main(address):
    document = requests.get(address + "/openrpc.json", timeout=10).json()
    discovered = requests.post(
        address + "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}, timeout=10
    ).json()["result"]
    assert document == discovered, "rpc.discover and /openrpc.json differ"
    schema = json.loads((pathlib.Path(__file__).parent / "openrpc-1.3.schema.json").read_text())
    schema = {**localized(schema), "$schema": "http://json-schema.org/draft-07/schema#"}
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    for error in errors[:10]:
        print(f"FAILED  {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    assert not errors
    names = [method["name"] for method in document["methods"]]
    assert len(names) == len(set(names)), "duplicate methods"
    for reference in references(document):
        resolve(document, reference)
    for method in document["methods"]:
        if method["name"] != "rpc.discover":
            check_method(document, method)
    print(f"ok      OpenRPC document with {len(names)} methods")


main(sys.argv[1])
