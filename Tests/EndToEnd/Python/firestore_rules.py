"""Security rules and ID tokens, with Google's Firestore client, Firestore's REST API, JSON-RPC and watch streams.

usage: firestore_rules.py HEARTH

The server has the rules of the example SharedList, and trusts issuers whose keys are made here.
"""

import base64
import datetime
import hashlib
import hmac
import json
import logging
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

import google.api_core.exceptions as exceptions
import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from google.cloud import firestore
from google.cloud.firestore_v1 import FieldFilter, Or, types

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "Examples" / "SharedList"
sys.dont_write_bytecode = True
sys.path.append(str(SAMPLE))

from shared_list import EDITOR, OWNER, READER, SharedLists, connect

DATABASE = "projects/hearth/databases/(default)"
DOCUMENTS = DATABASE + "/documents"
AUDIENCE = "hearth"
WAIT_SECONDS = 60
# The difference that a server allows between its clock and that of an issuer.
CLOCK_SKEW_SECONDS = 60

OK, PERMISSION_DENIED, UNAUTHENTICATED = 0, 7, 16


def expect(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {found!r}")


def denied(function, *arguments, **options):
    """Expects that rules refuse a call, without saying why."""
    fails(exceptions.PermissionDenied, function, *arguments, **options)


def fails(wanted, function, *arguments, **options):
    try:
        result = function(*arguments, **options)
        if hasattr(result, "__next__"):
            list(result)
    except exceptions.GoogleAPICallError as error:
        expect(type(error), wanted, str(error))
        return error.message
    raise AssertionError(f"expected {wanted.__name__}")


def base64url(data):
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An OpenID Connect issuer with one key."""

    def __init__(self, url, algorithm, uid_prefix=""):
        self.url = url
        self.algorithm = algorithm
        self.uid_prefix = uid_prefix
        self.name = algorithm.lower()
        if algorithm == "RS256":
            self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        else:
            self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def configuration(self):
        configuration = {
            "issuer": self.url,
            "audience": [AUDIENCE],
            "algorithms": [self.algorithm],
            "jwks": self.name + ".json",
        }
        return configuration | ({"uidPrefix": self.uid_prefix} if self.uid_prefix else {})

    @property
    def key_set(self):
        numbers = self.key.public_key().public_numbers()

        def encoded(number):
            return base64url(number.to_bytes((number.bit_length() + 7) // 8 if self.algorithm == "RS256" else 32, "big"))

        if self.algorithm == "RS256":
            parameters = {"kty": "RSA", "n": encoded(numbers.n), "e": encoded(numbers.e)}
        else:
            parameters = {"kty": "EC", "crv": "P-256", "x": encoded(numbers.x), "y": encoded(numbers.y)}
        return {"keys": [parameters | {"kid": self.name, "use": "sig", "alg": self.algorithm}]}

    @property
    def public_key(self):
        """The public key in PEM, which a verifier could mistake for the secret of HS256."""
        return self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def sign(self, text):
        if self.algorithm == "RS256":
            return self.key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        r, s = utils.decode_dss_signature(self.key.sign(text, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def claims(self, subject, lifetime=3600):
        now = int(time.time())
        issued = min(now, now + lifetime) - 1
        return {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": issued, "exp": now + lifetime}

    def token(self, subject, lifetime=3600, *, header={}, claims={}, sign=None):
        """Returns a token. Claims that are None are left out."""
        header = {"alg": self.algorithm, "typ": "JWT", "kid": self.name} | header
        claims = {name: claim for name, claim in (self.claims(subject, lifetime) | claims).items() if claim is not None}
        text = f"{base64url(header)}.{base64url(claims)}"
        return f"{text}.{base64url((sign or self.sign)(text.encode()))}"


class Server:
    """A server with rules and issuers."""

    def __init__(self, program, folder, *options):
        self.folder = pathlib.Path(folder)
        self.rules = self.folder / "firestore.rules"
        self.write_rules((SAMPLE / "firestore.rules").read_text())
        self.log = open(self.folder / "log", "w")
        command = [program, "serve", "--data", self.folder / "data", "--port", "0", "--rules", self.rules, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address, (self.folder / "log").read_text()

    def write_rules(self, text):
        """Replaces the rules, which the server notices."""
        new = self.folder / "new.rules"
        new.write_text(text)
        new.rename(self.rules)

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(WAIT_SECONDS), 0, "the exit status of the server")
        self.log.close()


class User(SharedLists):
    """A person with all protocols."""

    def __init__(self, server, issuer, subject, **options):
        self.token = issuer.token(subject, **options) if issuer else None
        self.address = server.address
        # The address of the person behind a proxy.
        self.network = None
        super().__init__(connect(server.address, self.token), issuer.uid_prefix + subject if issuer else subject)

    @property
    def headers(self):
        headers = {"X-Forwarded-For": self.network} if self.network else {}
        return headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def rest(self, method, path, body=None, **parameters):
        """Makes a call of Firestore's REST API, and returns its HTTP status and JSON."""
        url = f"{self.address}/v1/{path}"
        response = requests.request(method, url, json=body, params=parameters, headers=self.headers, timeout=WAIT_SECONDS)
        return response.status_code, response.json()

    def rpc(self, method, **parameters):
        """Makes a JSON-RPC call, and returns its error code and its result."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        response = requests.post(self.address + "/rpc", json=body, headers=self.headers, timeout=WAIT_SECONDS)
        answer = response.json()
        code = answer["error"]["code"] if "error" in answer else OK
        expect(response.status_code, 401 if code == UNAUTHENTICATED else 200, f"the HTTP status of {answer}")
        return code, answer.get("result")

    def watch(self, **parameters):
        """Opens a watch stream, and returns its HTTP status and its frames."""
        parameters["timeout"] = WAIT_SECONDS
        response = requests.get(
            self.address + "/watch", params=parameters, headers=self.headers, stream=True, timeout=WAIT_SECONDS
        )
        return response.status_code, (json.loads(line) for line in response.iter_lines())


class Listener:
    """A stream of responses to a target, as the protocol has them."""

    def __init__(self, user, **target):
        self.unsubscribed = threading.Event()
        target = {"target_id": 1, **target}
        self.responses = user.client._firestore_api.listen(
            requests=self.requests({"database": DATABASE, "add_target": target}), timeout=WAIT_SECONDS
        )

    def requests(self, request):
        yield request
        self.unsubscribed.wait()

    @classmethod
    def to_document(cls, user, path):
        return cls(user, documents={"documents": [f"{DOCUMENTS}/{path}"]})

    @classmethod
    def to_query(cls, user, query):
        if isinstance(query, firestore.CollectionReference):
            query = query.order_by("__name__")
        parent, _ = query._parent._parent_info()
        return cls(user, query={"parent": parent, "structured_query": query._to_protobuf()})

    def wait_for_current(self):
        """Waits until the listener has all that was committed before, and returns the number of documents."""
        count = 0
        for response in self.responses:
            count += 1 if response.document_change else 0
            if response.target_change.target_change_type == types.TargetChange.TargetChangeType.CURRENT:
                return count
        raise AssertionError("the stream has ended")

    def wait_for_end(self):
        """Waits until the target is refused, and returns the code and the documents until then."""
        documents = []
        try:
            for response in self.responses:
                if response.document_change:
                    documents.append(response.document_change.document)
                if response.target_change.target_change_type == types.TargetChange.TargetChangeType.REMOVE:
                    return response.target_change.cause.code, documents
        except exceptions.GoogleAPICallError as error:
            return error.grpc_status_code.value[0], documents
        finally:
            self.unsubscribed.set()
        raise AssertionError("the stream has ended")


class ListenerErrors(logging.Handler):
    """The errors of listeners of Google's client, which it only logs."""

    def __init__(self):
        super().__init__()
        self.errors = queue.Queue()
        logger = logging.getLogger("google.api_core.bidi")
        logger.addHandler(self)
        logger.propagate = False

    def emit(self, record):
        if record.exc_info:
            self.errors.put(record.exc_info[1].__cause__)


def wait_until(condition, what):
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"timed out: {what}"
        time.sleep(0.05)


def new_list(alice, bob=None, carol=None, name="Party"):
    """Creates a list of Alice, in which Bob is an editor and Carol a reader."""
    shopping = alice.create(name)
    if bob:
        alice.share(shopping, bob.user, EDITOR)
    if carol:
        alice.share(shopping, carol.user, READER)
    return shopping


def refused_writes(shopping, user):
    """Returns writes that nobody may make, each in a batch of its own."""
    now = firestore.SERVER_TIMESTAMP
    clock = datetime.datetime.now(datetime.timezone.utc)
    items, lists = user.items(shopping), user.client.collection("lists")
    item = {"text": "a", "done": False, "author": user.user, "createdAt": now, "updatedAt": now}
    fresh = {"name": "x", "roles": {user.user: OWNER}, "members": [user.user], "createdAt": now, "updatedAt": now}
    for change in (
        {"text": 1}, {"text": ""}, {"text": "é" * 201}, {"done": None}, {"author": "mallory"}, {"price": 1},
        {"createdAt": clock}, {"updatedAt": clock},
    ):  # fmt: skip
        yield lambda batch, change=change: batch.create(items.document(), item | change)
    for change in (
        {"name": ""}, {"roles": {user.user: READER}}, {"roles": {"mallory": OWNER}}, {"roles": "owner"},
        {"members": [user.user, "mallory"]}, {"members": []}, {"extra": 1}, {"updatedAt": clock},
        {"roles": {user.user: OWNER, "mallory": OWNER}, "members": [user.user, "mallory"]},
    ):  # fmt: skip
        yield lambda batch, change=change: batch.create(lists.document(), fresh | change)
    mine = user.list(shopping)
    for change in (
        {"updatedAt": clock}, {"createdAt": now, "updatedAt": now}, {"name": "without a time"},
        {"roles": {}, "members": [], "updatedAt": now}, {"members": firestore.ArrayUnion(["mallory"]), "updatedAt": now},
        {"roles.mallory": "admin", "members": firestore.ArrayUnion(["mallory"]), "updatedAt": now},
    ):  # fmt: skip
        yield lambda batch, change=change: batch.update(mine, change)
    yield lambda batch: batch.set(user.client.document(f"lists/{shopping}/secrets/1"), {})
    yield lambda batch: batch.set(user.client.document("users/" + user.user), {})


def check_roles(alice, bob, carol, dave, nobody):
    """Each role may do what it should, and nothing else."""
    shopping = new_list(alice, bob, carol)
    lemons = bob.add(shopping, "lemons")
    alice.check_off(shopping, lemons)
    for member in (alice, bob, carol):
        expect(member.list(shopping).get().get("name"), "Party")
        expect([found.get("text") for found in member.items(shopping).stream()], ["lemons"])
        expect(member.items(shopping).document("missing").get().exists, False)
    for stranger in (dave, nobody):
        denied(stranger.list(shopping).get)
        denied(stranger.items(shopping).document(lemons).get)
        denied(stranger.items(shopping).document("missing").get)
        denied(stranger.items(shopping).get)
        denied(stranger.add, shopping, "x")
    denied(nobody.create, "x")
    denied(carol.add, shopping, "x")
    denied(carol.check_off, shopping, lemons)
    denied(carol.items(shopping).document(lemons).delete)
    for member in (bob, carol):
        denied(member.share, shopping, member.user, OWNER)
        denied(member.share, shopping, dave.user, READER)
        denied(member.unshare, shopping, alice.user)
        denied(member.list(shopping).delete)
    for user in (alice, bob, carol, dave):
        for write in refused_writes(shopping, user):
            batch = user.client.batch()
            write(batch)
            denied(batch.commit)
    carol.unshare(shopping, carol.user)
    denied(carol.list(shopping).get)
    denied(alice.unshare, shopping, alice.user)
    bob.items(shopping).document(lemons).delete()
    alice.list(shopping).delete()
    denied(alice.list(shopping).get)


def check_queries(alice, bob, carol, dave, nobody):
    """A query is refused unless rules allow all documents that it could find."""
    shopping = new_list(alice, bob, carol, name="Queries")
    alice.add(shopping, "salt")
    lists = dave.client.collection("lists")
    contains = FieldFilter("members", "array_contains", dave.user)
    lists.where(filter=contains).order_by("name").limit(1).get()
    lists.where(filter=FieldFilter("members", "array_contains_any", [dave.user])).get()
    lists.where(filter=FieldFilter("members", "==", [dave.user])).get()
    expect(lists.where(filter=contains).where(filter=FieldFilter("name", "==", "Queries")).count().get()[0][0].value, 0)
    others = FieldFilter("members", "array_contains_any", [dave.user, alice.user])
    for query in (
        lists,
        lists.limit(1),
        lists.where(filter=FieldFilter("name", "==", "Queries")),
        lists.where(filter=FieldFilter("members", "array_contains", alice.user)),
        lists.where(filter=others),
        lists.where(filter=Or([contains, FieldFilter("name", "==", "Queries")])),
        lists.where(filter=FieldFilter("__name__", "==", lists.document(shopping))),
        lists.order_by("name").start_at({"name": "Queries"}),
        dave.client.collection_group("items"),
        dave.client.collection_group("lists").where(filter=contains),
        dave.items(shopping).where(filter=FieldFilter("author", "==", dave.user)),
    ):
        denied(query.get)
        denied(query.count().get)
    denied(lists.sum("size").get)
    denied(nobody.client.collection("lists").get)
    expect(carol.items(shopping).count().get()[0][0].value, 1)
    expect([found.get("text") for found in carol.items(shopping).select(["text"]).stream()], ["salt"])
    expect("Queries" in bob.lists(), True)
    references = [alice.list(shopping), alice.list("missing")]
    denied(list, alice.client.get_all(references))
    expect([found.exists for found in alice.client.get_all(references[:1])], [True])


def check_transactions(alice, bob, carol, dave, nobody):
    """One refused write refuses a commit; each write of a bulk writer is decided alone."""
    shopping = new_list(alice, bob, carol, name="Transactions")
    now = firestore.SERVER_TIMESTAMP
    item = {"text": "a", "done": False, "author": bob.user, "createdAt": now, "updatedAt": now}
    batch = bob.client.batch()
    batch.create(bob.items(shopping).document("one"), item)
    batch.create(bob.items(shopping).document("two"), item | {"author": alice.user})
    denied(batch.commit)
    expect(bob.items(shopping).document("one").get().exists, False)

    @firestore.transactional
    def rename(transaction, user):
        found = user.list(shopping).get(transaction=transaction)
        transaction.update(user.list(shopping), {"name": found.get("name") + "!", "updatedAt": now})

    rename(alice.client.transaction(), alice)
    denied(rename, bob.client.transaction(), bob)
    denied(rename, dave.client.transaction(), dave)
    expect(carol.list(shopping).get().get("name"), "Transactions!")

    writer = bob.client.bulk_writer()
    failed = []
    writer.on_write_error(lambda failure, _: failed.append(failure.code))
    writer.create(bob.items(shopping).document("good"), item)
    writer.create(bob.items(shopping).document("bad"), item | {"price": 1})
    writer.close()
    expect(failed, [PERMISSION_DENIED])
    expect([found.id for found in carol.items(shopping).stream()], ["good"])

    # Another user's transaction is as good as none.
    mine = alice.client.transaction()
    mine._begin()
    other = bob.client.transaction()
    other._id = mine.id
    other.update(bob.items(shopping).document("good"), {"done": True, "updatedAt": now})
    fails(exceptions.InvalidArgument, other._commit)
    mine._rollback()


def check_preconditions(alice, bob, carol, dave, nobody):
    """Neither preconditions nor transforms tell a stranger whether a document exists."""
    shopping = new_list(alice, bob, carol, name="Preconditions")
    for name in (shopping, "missing"):
        reference = dave.list(name)
        denied(reference.get)
        denied(reference.delete)
        denied(reference.delete, option=dave.client.write_option(exists=True))
        denied(reference.update, {"name": "x"})
        denied(reference.create, {"name": "x"})
        denied(reference.set, {"count": firestore.Increment(1)}, merge=True)
        path = f"{DOCUMENTS}/lists/{name}"
        write = {"verify": path, "currentDocument": {"exists": True}}
        expect(dave.rest("POST", DOCUMENTS + ":commit", {"writes": [write]})[0], 403, name)


def check_rest(alice, bob, carol, dave, nobody):
    """Firestore's REST API."""
    shopping = new_list(alice, bob, carol, name="REST")
    item = bob.add(shopping, "rest")
    path = f"{DOCUMENTS}/lists/{shopping}"
    query = {"from": [{"collectionId": "items"}]}
    aggregation = {"structuredQuery": query, "aggregations": [{"count": {}}]}

    def reads(user):
        return [
            user.rest("GET", path),
            user.rest("GET", f"{path}/items"),
            user.rest("GET", f"{path}/items/{item}"),
            user.rest("POST", f"{path}:runQuery", {"structuredQuery": query}),
            user.rest("POST", f"{path}:runAggregationQuery", {"structuredAggregationQuery": aggregation}),
            user.rest("POST", DOCUMENTS + ":batchGet", {"documents": [f"{path}/items/{item}"]}),
        ]

    for user, wanted in ((carol, 200), (dave, 403), (nobody, 403)):
        for status, answer in reads(user):
            expect(status, wanted, f"{user.user}: {answer}")
    for status, answer in reads(dave):
        answer = answer[0] if isinstance(answer, list) else answer
        expect(
            answer["error"], {"code": 403, "message": "Missing or insufficient permissions.", "status": "PERMISSION_DENIED"}
        )
    done = {"fields": {"done": {"booleanValue": True}}}
    fields = {"updateMask.fieldPaths": "done"}
    expect(bob.rest("PATCH", f"{path}/items/{item}", done, **fields)[0], 403, "a write without a server timestamp")
    write = {"update": {"name": f"{path}/items/{item}", **done}, "updateMask": {"fieldPaths": ["done"]}}
    write["updateTransforms"] = [{"fieldPath": "updatedAt", "setToServerValue": "REQUEST_TIME"}]
    for user, wanted in ((carol, 403), (dave, 403), (nobody, 403), (bob, 200)):
        expect(user.rest("POST", DOCUMENTS + ":commit", {"writes": [write]})[0], wanted, user.user)
    for user, wanted in ((carol, PERMISSION_DENIED), (bob, OK)):
        status, answer = user.rest("POST", DOCUMENTS + ":batchWrite", {"writes": [write]})
        expect((status, answer["status"][0].get("code", OK)), (200, wanted), user.user)
    expect(carol.rest("DELETE", f"{path}/items/{item}")[0], 403)
    expect(bob.rest("DELETE", f"{path}/items/{item}"), (200, {}))


def check_rpc(alice, bob, carol, dave, nobody):
    """JSON-RPC."""
    shopping = new_list(alice, bob, carol, name="RPC")
    item = bob.add(shopping, "rpc")
    items = f"lists/{shopping}/items"
    for user, wanted in ((carol, OK), (dave, PERMISSION_DENIED), (nobody, PERMISSION_DENIED)):
        expect(user.rpc("documents.get", path=f"{items}/{item}")[0], wanted, user.user)
        expect(user.rpc("documents.list", collection=items)[0], wanted, user.user)
        expect(user.rpc("documents.batchGet", paths=[f"{items}/{item}"])[0], wanted, user.user)
        expect(user.rpc("query.run", collection=items)[0], wanted, user.user)
        expect(user.rpc("query.aggregate", collection=items, aggregations=[{"count": {}}])[0], wanted, user.user)
    change = {"fields": {"done": True}, "transforms": [{"field": "updatedAt", "serverTimestamp": True}]}
    for user, wanted in ((carol, PERMISSION_DENIED), (dave, PERMISSION_DENIED), (bob, OK)):
        expect(user.rpc("documents.update", path=f"{items}/{item}", **change)[0], wanted, user.user)
        expect(user.rpc("documents.commit", writes=[{"delete": {"path": f"{items}/x"}}])[0], wanted, user.user)
        expect(user.rpc("documents.set", path=f"{items}/x", fields={"text": "x"})[0], PERMISSION_DENIED, user.user)
    expect(carol.rpc("documents.get", path=f"{items}/{item}")[1]["fields"]["done"], True)


def check_closed(alice, bob, carol, dave, nobody):
    """What is not for end users is refused, even if rules allow all that it would read."""
    shopping = new_list(alice, name="Closed")
    path = f"{DOCUMENTS}/lists/{shopping}"
    moment = alice.list(shopping).get().update_time.isoformat().replace("+00:00", "Z")
    contains = {"field": {"fieldPath": "members"}, "op": "ARRAY_CONTAINS", "value": {"stringValue": alice.user}}
    query = {"from": [{"collectionId": "lists"}], "where": {"fieldFilter": contains}}
    for method, parameters in {
        "documents.history": {"path": f"lists/{shopping}"},
        "documents.restore": {"path": f"lists/{shopping}", "commitTime": moment},
        "collections.list": {},
        "collections.size": {"collection": f"lists/{shopping}/items"},
        "query.explain": {"collection": f"lists/{shopping}/items"},
        "changes.poll": {"document": f"lists/{shopping}"},
        "indexes.list": {},
        "databases.list": {},
        "databases.create": {"name": "other"},
        "databases.delete": {"name": "other"},
        "keys.list": {},
        "keys.create": {"role": "admin"},
        "rules.get": {},
        "rules.set": {"rules": ""},
        "server.log": {},
        "server.info": {},
    }.items():
        for user in (alice, nobody):
            expect(user.rpc(method, **parameters)[0], PERMISSION_DENIED, method)
    items = f"lists/{shopping}/items"
    expect(alice.rpc("documents.list", collection=items)[0], OK)
    expect(alice.rpc("documents.list", collection=items, showMissing=True)[0], PERMISSION_DENIED)
    expect(alice.rpc("documents.get", path=f"lists/{shopping}", readTime=moment)[0], PERMISSION_DENIED)
    expect(alice.watch(document=f"lists/{shopping}", include="before")[0], 403)
    for method, name, body in (
        ("POST", path + ":listCollectionIds", {}),
        ("POST", DOCUMENTS + ":partitionQuery", {"structuredQuery": query, "partitionCount": 2}),
        ("POST", DOCUMENTS + ":runQuery", {"structuredQuery": query, "explainOptions": {"analyze": True}}),
        ("POST", DOCUMENTS + ":runQuery", {"structuredQuery": query, "readTime": moment}),
        ("POST", DOCUMENTS + ":batchGet", {"documents": [path], "readTime": moment}),
        ("POST", DOCUMENTS + ":beginTransaction", {"options": {"readOnly": {"readTime": moment}}}),
        ("GET", f"{path}?readTime={moment}", None),
        ("GET", f"{path}/items?showMissing=true", None),
    ):
        expect(alice.rest(method, name, body)[0], 403, name)
    denied(list, alice.list(shopping).collections())
    denied(list, alice.client.collection_group("items").get_partitions(2))
    denied(alice.list(shopping).get, read_time=alice.list(shopping).get().update_time)
    for page in ("/admin", "/documents", "/emulator/v1/projects/hearth:ruleCoverage"):
        for user in (alice, nobody):
            status = requests.get(user.address + page, headers=user.headers, allow_redirects=False, timeout=WAIT_SECONDS)
            assert status.status_code in (303, 401, 403, 404), f"{page}: {status.status_code}"


def check_watch(alice, bob, carol, dave, nobody):
    """Watch streams."""
    shopping = new_list(alice, bob, carol, name="Watch")
    items = f"lists/{shopping}/items"
    for user in (dave, nobody):
        for target in ({"document": f"lists/{shopping}"}, {"collection": items}, {"collection": "lists"}):
            expect(user.watch(**target)[0], 403, str(target))
    expect(carol.watch(collectionGroup="items")[0], 403)
    status, frames = carol.watch(collection=items)
    expect(status, 200)
    bob.add(shopping, "seen")
    expect(next(frame for frame in frames if "document" in frame)["document"]["fields"]["text"], "seen")
    alice.unshare(shopping, carol.user)
    bob.add(shopping, "secret")
    last = None
    for last in frames:
        assert "secret" not in json.dumps(last), last
    expect((last["type"], last.get("code")), ("error", PERMISSION_DENIED))


def check_listeners(alice, bob, carol, dave, nobody):
    """Listeners see what they may, and end when that is no more, without what was written afterwards."""
    shopping = new_list(alice, bob, carol, name="Listeners")
    for user in (dave, nobody):
        for listener in (
            Listener.to_document(user, f"lists/{shopping}"),
            Listener.to_document(user, "lists/missing"),
            Listener.to_query(user, user.items(shopping)),
            Listener.to_query(user, user.client.collection("lists")),
            Listener.to_query(user, user.client.collection_group("items")),
        ):
            expect(listener.wait_for_end(), (PERMISSION_DENIED, []))

    shown, errors = queue.Queue(), ListenerErrors().errors
    screen = carol.show(shopping, shown.put)
    expect(shown.get(timeout=WAIT_SECONDS), [])
    bob.add(shopping, "seen")
    expect(shown.get(timeout=WAIT_SECONDS), ["☐ seen"])
    document = Listener.to_document(carol, f"lists/{shopping}")
    items = Listener.to_query(carol, carol.items(shopping).where(filter=FieldFilter("done", "==", False)))
    mine = FieldFilter("members", "array_contains", carol.user)
    lists = Listener.to_query(carol, carol.client.collection("lists").where(filter=mine))
    expect([listener.wait_for_current() for listener in (document, items)], [1, 1])
    lists.wait_for_current()
    alice.unshare(shopping, carol.user)
    bob.add(shopping, "secret")
    alice.list(shopping).update({"name": "Secret", "updatedAt": firestore.SERVER_TIMESTAMP})
    expect(document.wait_for_end(), (PERMISSION_DENIED, []))
    expect(items.wait_for_end(), (PERMISSION_DENIED, []))
    expect(type(errors.get(timeout=WAIT_SECONDS)), exceptions.PermissionDenied)
    wait_until(lambda: not screen.is_active, "the end of a listener of Google's client")
    expect(list(shown.queue), [], "what the listener has shown since")
    # The query remains allowed, and the list is no longer among its results.
    removed = next(response for response in lists.responses if response.document_delete or response.document_remove)
    expect((removed.document_delete or removed.document_remove).document, f"{DOCUMENTS}/lists/{shopping}")
    lists.unsubscribed.set()


def check_rules_change(server, alice, bob, carol):
    """New rules decide at once, also about open listeners. Rules that do not compile change nothing."""
    shopping = new_list(alice, bob, carol, name="Rules")
    text = server.rules.read_text()
    listeners = [Listener.to_document(carol, f"lists/{shopping}"), Listener.to_query(carol, carol.items(shopping))]
    expect([listener.wait_for_current() for listener in listeners], [1, 0])
    status, frames = carol.watch(document=f"lists/{shopping}")
    expect((status, next(frames)["type"]), (200, "open"))
    server.write_rules("service cloud.firestore {")
    wait_until(lambda: "Failed to reload" in (server.folder / "log").read_text(), "the refusal of rules")
    expect(carol.list(shopping).get().exists, True)
    server.write_rules(text.replace("'reader'", "'nobody'").replace("allow read: if isMember()", "allow read: if isOwner()"))
    for listener in listeners:
        expect(listener.wait_for_end(), (PERMISSION_DENIED, []))
    *_, last = frames
    expect((last["type"], last.get("code")), ("error", PERMISSION_DENIED))
    denied(carol.list(shopping).get)
    expect(alice.list(shopping).get().exists, True)
    server.write_rules(text)

    def is_readable():
        try:
            return carol.list(shopping).get().exists
        except exceptions.PermissionDenied:
            return False

    wait_until(is_readable, "the old rules")


def check_expiry(server, issuer, alice):
    """A stream ends with its token, so that a client comes back with a new one."""
    shopping = new_list(alice, name="Expiry")
    alice.share(shopping, "erin", READER)
    path = f"lists/{shopping}"
    erin = User(server, issuer, "erin", lifetime=5 - CLOCK_SKEW_SECONDS)
    listeners = [Listener.to_document(erin, path), Listener.to_query(erin, erin.items(shopping))]
    expect([listener.wait_for_current() for listener in listeners], [1, 0])
    status, frames = erin.watch(document=path)
    expect(status, 200)
    for listener in listeners:
        expect(listener.wait_for_end(), (UNAUTHENTICATED, []))
    *_, last = frames
    expect((last["type"], last["reason"]), ("end", "unauthenticated"))
    fails(exceptions.Unauthenticated, erin.list(shopping).get)
    expect(erin.rest("GET", f"{DOCUMENTS}/{path}")[1]["error"]["status"], "UNAUTHENTICATED")
    expect(erin.rpc("documents.get", path=path)[0], UNAUTHENTICATED)
    expect(erin.watch(document=path)[0], 401)
    expect(User(server, issuer, "erin").list(shopping).get().exists, True)


def check_forgeries(server, rs256, es256, alice):
    """Tokens that the issuers have not made for this server are refused, even where nobody need be signed in."""
    stranger = Issuer(rs256.url, "RS256")

    def hs256(text):
        return hmac.new(rs256.public_key, text, hashlib.sha256).digest()

    forgeries = {
        "none": rs256.token("alice", header={"alg": "none"}, sign=lambda text: b""),
        "None": rs256.token("alice", header={"alg": "None"}, sign=lambda text: b""),
        "no signature": rs256.token("alice", sign=lambda text: b""),
        "HS256 with the public key": rs256.token("alice", header={"alg": "HS256"}, sign=hs256),
        "another key": stranger.token("alice"),
        "the key of another issuer": rs256.token("alice", header={"alg": "ES256", "kid": "es256"}, sign=es256.sign),
        "an algorithm that is not allowed": rs256.token("alice", header={"alg": "RS512"}),
        "an unknown key": rs256.token("alice", header={"kid": "other"}),
        "a key in the header": stranger.token("alice", header={"jwk": stranger.key_set["keys"][0]}),
        "an unknown issuer": rs256.token("alice", claims={"iss": "https://evil.example.org"}),
        "another audience": rs256.token("alice", claims={"aud": "other"}),
        "no audience": rs256.token("alice", claims={"aud": []}),
        "no expiry": rs256.token("alice", claims={"exp": None}),
        "from the future": rs256.token("alice", claims={"iat": int(time.time()) + 3600}),
        "no user": rs256.token(""),
        "the prefix of another issuer": rs256.token(es256.uid_prefix + "carol"),
        "changed claims": ".".join([alice.token.split(".")[0], base64url(rs256.claims("bob")), alice.token.split(".")[2]]),
    }
    expired = rs256.token("alice", lifetime=-CLOCK_SKEW_SECONDS - 1)
    user = User(server, None, "nobody")
    for number, (what, token) in enumerate([*forgeries.items(), ("an expired token", expired)]):
        # Networks with many forgeries have to wait.
        user.token, user.network = token, f"192.0.2.{number}"
        status, answer = user.rest("GET", DOCUMENTS + "/lists/x")
        expect((status, answer["error"]["status"]), (401, "UNAUTHENTICATED"), what)
        expect(user.rpc("documents.get", path="lists/x")[0], UNAUTHENTICATED, what)
        expect(user.watch(document="lists/x")[0], 401, what)
        refusal = exceptions.Unauthenticated if token is expired else exceptions.PermissionDenied
        api = connect(server.address, token)._firestore_api
        options = {"metadata": [("x-forwarded-for", user.network)], "retry": None, "timeout": WAIT_SECONDS}
        fails(refusal, api.get_document, {"name": DOCUMENTS + "/lists/x"}, **options)
        fails(refusal, api.commit, {"database": DATABASE, "writes": [{"delete": DOCUMENTS + "/lists/x"}]}, **options)
        target = {"target_id": 1, "documents": {"documents": [DOCUMENTS + "/lists/x"]}}
        fails(refusal, lambda: api.listen(iter([{"database": DATABASE, "add_target": target}]), **options))


def check_databases(server, alice, nobody):
    """Refused writes create no databases."""
    for user in (alice, nobody):
        documents = "projects/other/databases/(default)/documents"
        write = {"delete": documents + "/secrets/1"}
        expect(user.rest("DELETE", documents + "/secrets/1")[0], 403)
        expect(user.rest("POST", documents + ":commit", {"writes": [write]})[0], 403)
        expect(user.rpc("documents.set", path="secrets/1", fields={}, database="other/(default)")[0], PERMISSION_DENIED)
    expect((server.folder / "data" / "databases").exists(), False)


def check_sample(program):
    """The example passes its tests, and says what its rules allow, with unsigned tokens of a server in emulator mode."""
    suite = [program, "rules", "test", SAMPLE / "firestore.rules", SAMPLE / "firestore.rules.tests.json"]
    tested = subprocess.run(suite, capture_output=True, text=True, timeout=WAIT_SECONDS)
    expect(tested.returncode, 0, tested.stdout)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, "--emulator")
        try:
            command = [sys.executable, SAMPLE / "shared_list.py", server.address]
            output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=WAIT_SECONDS).stdout
        finally:
            server.stop()
    said = [line.split(maxsplit=1) for line in output.splitlines()]
    expect(
        [sentence for answer, sentence in said if answer == "yes"],
        ["Bob may add an item.", "Carol may leave.", "Alice may make Bob an owner too.", "Alice may leave now."],
    )
    expect(sum(answer == "no" for answer, _ in said), 8)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        rs256 = Issuer("https://id.example.org", "RS256")
        es256 = Issuer("https://staff.example.org", "ES256", uid_prefix="staff:")
        issuers = pathlib.Path(folder) / "issuers.json"
        issuers.write_text(json.dumps({"issuers": [issuer.configuration for issuer in (rs256, es256)]}))
        for issuer in (rs256, es256):
            (issuers.parent / (issuer.name + ".json")).write_text(json.dumps(issuer.key_set))
        server = Server(program, folder, "--auth-issuers", issuers, "--trusted-proxy", "127.0.0.1")
        try:
            alice, bob, dave = (User(server, rs256, name) for name in ("alice", "bob", "dave"))
            carol, nobody = User(server, es256, "carol"), User(server, None, "nobody")
            for check in (
                check_roles, check_queries, check_transactions, check_preconditions, check_rest, check_rpc, check_closed,
                check_watch, check_listeners,
            ):  # fmt: skip
                check(alice, bob, carol, dave, nobody)
            check_databases(server, alice, nobody)
            check_rules_change(server, alice, bob, carol)
            check_expiry(server, rs256, alice)
            check_forgeries(server, rs256, es256, alice)
        finally:
            server.stop()
    check_sample(program)
    print("ok      security rules and ID tokens")


if __name__ == "__main__":
    main(sys.argv[1])
