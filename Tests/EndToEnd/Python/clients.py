"""Tests a running server with third-party JSON-RPC clients: a read, an error, a notification and a batch with each."""

import asyncio
import collections
import collections.abc
import sys
import uuid

# For jsonrpc-requests 0.4.0, which uses the location before Python 3.10.
collections.Mapping = collections.abc.Mapping

import aiohttp
import bitcoinrpc.authproxy
import httpx
import jsonrpc.jsonrpc2
import jsonrpc_async
import jsonrpc_requests
import jsonrpcclient
import jsonrpclib
import pjrpc.client.backend.aiohttp
import pjrpc.client.backend.httpx
import pjrpc.client.backend.requests
import requests
import tinyrpc
import tinyrpc.protocols.jsonrpc
import tinyrpc.transports.http
from jsonrpc2pyclient.httpclient import RPCHTTPClient

NOT_FOUND = 5
INVALID_REQUEST = -32600


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, got {found!r}")


class Target:
    """A server with a test document."""

    def __init__(self, address):
        self.address = address
        self.url = address + "/rpc"
        self.path = "clients/" + uuid.uuid4().hex
        self.fields = {"text": "é\u2028\"\\", "count": 9007199254740993}
        self.call("documents.set", path=self.path, fields=self.fields)

    def call(self, method, **params):
        response = requests.post(
            self.url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, timeout=10
        ).json()
        return response["result"]

    def check(self, document):
        expect(document["path"], self.path)
        expect(document["fields"], self.fields)

    def notification_params(self, name):
        """Returns the parameters of a notification that writes a document."""
        return {"path": f"{self.path}/notified/{name}", "fields": {}}

    def check_notified(self, name):
        self.call("documents.get", path=f"{self.path}/notified/{name}")


def pelix(target):
    server = jsonrpclib.ServerProxy(target.url)
    target.check(server.documents.get(path=target.path))
    try:
        server.documents.get(path="clients/none")
        raise AssertionError("no error")
    except jsonrpclib.ProtocolError as error:
        expect(error.args[0][0], NOT_FOUND)
    server._notify.documents.set(**target.notification_params("pelix"))
    target.check_notified("pelix")
    batch = jsonrpclib.MultiCall(server)
    batch.documents.get(path=target.path)
    batch.documents.get(path=target.path)
    for document in batch():
        target.check(document)


def pjrpc_sync(backend):
    def check(target):
        client = backend.Client(target.url)
        target.check(client.proxy.__getattr__("documents.get")(path=target.path))
        try:
            client.call("documents.get", path="clients/none")
            raise AssertionError("no error")
        except pjrpc.client.exceptions.JsonRpcError as error:
            expect(error.code, NOT_FOUND)
        client.notify("documents.set", **target.notification_params(backend.__name__))
        target.check_notified(backend.__name__)
        with client.batch() as batch:
            batch("documents.get", path=target.path)
            batch("documents.get", path=target.path)
        for document in batch.get_results():
            target.check(document)

    return check


def pjrpc_aiohttp(target):
    async def run():
        async with pjrpc.client.backend.aiohttp.Client(target.url) as client:
            target.check(await client.call("documents.get", path=target.path))
            await client.notify("documents.set", **target.notification_params("aiohttp"))
            target.check(await client.call("documents.get", path=target.path))
            target.check_notified("aiohttp")

    asyncio.run(run())


def tinyrpc_client(target):
    # The client sends no Content-Type by default.
    transport = tinyrpc.transports.http.HttpPostClientTransport(
        target.url, headers={"Content-Type": "application/json"}
    )
    client = tinyrpc.client.RPCClient(tinyrpc.protocols.jsonrpc.JSONRPCProtocol(), transport)
    target.check(client.get_proxy(prefix="documents.").get(path=target.path))
    try:
        client.call("documents.get", [], {"path": "clients/none"})
        raise AssertionError("no error")
    except tinyrpc.protocols.jsonrpc.JSONRPCError as error:
        expect(error._jsonrpc_error_code, NOT_FOUND)
    untyped = tinyrpc.transports.http.HttpPostClientTransport(target.url)
    response = untyped.send_message(b'{"jsonrpc":"2.0","id":1,"method":"server.info"}')
    if b"application/json" not in response:
        raise AssertionError("the error does not name the expected Content-Type")


def jsonrpc_requests_client(target):
    server = jsonrpc_requests.Server(target.url)
    target.check(server.documents.get(path=target.path))
    try:
        server.documents.get(path="clients/none")
        raise AssertionError("no error")
    except jsonrpc_requests.ProtocolError as error:
        expect(error.server_data["error"]["code"], NOT_FOUND)
    server.documents.set(**target.notification_params("requests"), _notification=True)
    target.check_notified("requests")


def jsonrpc_async_client(target):
    async def run():
        async with aiohttp.ClientSession() as session:
            server = jsonrpc_async.Server(target.url, session=session)
            target.check(await server.documents.get(path=target.path))
            await server.documents.set(**target.notification_params("async"), _notification=True)
            target.check_notified("async")

    asyncio.run(run())


def jsonrpcclient_bodies(target):
    response = requests.post(
        target.url, json=[jsonrpcclient.request_uuid("documents.get", {"path": target.path}) for _ in range(2)], timeout=10
    )
    for parsed in jsonrpcclient.parse(response.json()):
        target.check(parsed.result)
    notification = requests.post(
        target.url, json=jsonrpcclient.notification("documents.set", target.notification_params("jsonrpcclient")), timeout=10
    )
    expect((notification.status_code, notification.content), (204, b""))
    target.check_notified("jsonrpcclient")


def jsonrpc_bodies(target):
    request = jsonrpc.jsonrpc2.JSONRPC20Request("documents.get", [target.path], _id=0)
    response = requests.post(target.url, data=request.json, headers={"Content-Type": "application/json-rpc"}, timeout=10)
    parsed = jsonrpc.jsonrpc2.JSONRPC20Response(_id=response.json()["id"], result=response.json()["result"])
    expect(parsed._id, 0)
    target.check(parsed.result)


def jsonrpc2_pyclient(target):
    client = RPCHTTPClient(target.url, headers=httpx.Headers({"Content-Type": "application/json"}))
    target.check(client.call("documents.get", {"path": target.path}))


def bitcoinrpc_client(target):
    """Version 1.1 of the protocol is rejected with an error that the client can parse."""
    server = bitcoinrpc.authproxy.AuthServiceProxy(target.url.replace("://", "://user:password@"))
    try:
        server.documents.get(target.path)
        raise AssertionError("no error")
    except bitcoinrpc.authproxy.JSONRPCException as error:
        expect(error.code, INVALID_REQUEST)


CLIENTS = {
    "jsonrpclib-pelix": pelix,
    "pjrpc with requests": pjrpc_sync(pjrpc.client.backend.requests),
    "pjrpc with httpx": pjrpc_sync(pjrpc.client.backend.httpx),
    "pjrpc with aiohttp": pjrpc_aiohttp,
    "tinyrpc": tinyrpc_client,
    "jsonrpc-requests": jsonrpc_requests_client,
    "jsonrpc-async": jsonrpc_async_client,
    "jsonrpcclient": jsonrpcclient_bodies,
    "json-rpc": jsonrpc_bodies,
    "jsonrpc2-pyclient": jsonrpc2_pyclient,
    "python-bitcoinrpc": bitcoinrpc_client,
}


def main(address):
    target = Target(address)
    failed = 0
    for name, check in CLIENTS.items():
        try:
            check(target)
            print(f"ok      {name}")
        except Exception as error:
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}")
    sys.exit(1 if failed else 0)


main(sys.argv[1])
