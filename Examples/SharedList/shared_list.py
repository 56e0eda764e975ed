"""Shopping lists that people share, with Google's Firestore client and the security rules in firestore.rules.

usage: shared_list.py ADDRESS

Runs the app once for each of four people, on a server in emulator mode such as http://127.0.0.1:8080.
"""

import base64
import json
import queue
import sys
import urllib.parse

import google.auth.credentials
import grpc
from google.api_core.exceptions import PermissionDenied
from google.cloud import firestore
from google.cloud.firestore_v1 import FieldFilter
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

OWNER, EDITOR, READER = "owner", "editor", "reader"
WAIT_SECONDS = 60


class IDToken(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Sends an ID token with each call."""

    def __init__(self, token):
        self.field = ("authorization", f"Bearer {token}")

    def add_field(self, call, details, request):
        metadata = [*(details.metadata or []), self.field]
        return call(details._replace(metadata=metadata), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = add_field


def connect(address, token=None):
    """Returns Google's client for an end user; without a token, nobody is signed in."""
    channel = grpc.insecure_channel(urllib.parse.urlsplit(address).netloc)
    if token:
        channel = grpc.intercept_channel(channel, IDToken(token))
    client = firestore.Client(project="hearth", credentials=google.auth.credentials.AnonymousCredentials())
    # The client has no option for the channel of its transport.
    client._firestore_api_internal = FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))
    return client


class SharedLists:
    """The app, as one person uses it."""

    def __init__(self, client, user):
        self.client = client
        self.user = user

    def create(self, name):
        """Creates a list of which the user is the owner."""
        shopping = self.client.collection("lists").document()
        shopping.create(
            {
                "name": name,
                "roles": {self.user: OWNER},
                "members": [self.user],
                "createdAt": firestore.SERVER_TIMESTAMP,
                "updatedAt": firestore.SERVER_TIMESTAMP,
            }
        )
        return shopping.id

    def lists(self):
        """Returns the names of the user's lists."""
        mine = self.client.collection("lists").where(filter=FieldFilter("members", "array_contains", self.user))
        return sorted(found.get("name") for found in mine.stream())

    def share(self, shopping, user, role):
        """Gives a person a role."""
        self.list(shopping).update(
            {
                self.client.field_path("roles", user): role,
                "members": firestore.ArrayUnion([user]),
                "updatedAt": firestore.SERVER_TIMESTAMP,
            }
        )

    def unshare(self, shopping, user):
        """Takes the role of a person away. The user may leave the list."""
        self.list(shopping).update(
            {
                self.client.field_path("roles", user): firestore.DELETE_FIELD,
                "members": firestore.ArrayRemove([user]),
                "updatedAt": firestore.SERVER_TIMESTAMP,
            }
        )

    def add(self, shopping, text):
        """Adds an item to a list."""
        item = self.items(shopping).document()
        item.create(
            {
                "text": text,
                "done": False,
                "author": self.user,
                "createdAt": firestore.SERVER_TIMESTAMP,
                "updatedAt": firestore.SERVER_TIMESTAMP,
            }
        )
        return item.id

    def check_off(self, shopping, item):
        """Marks an item as done."""
        self.items(shopping).document(item).update({"done": True, "updatedAt": firestore.SERVER_TIMESTAMP})

    def show(self, shopping, screen):
        """Calls a function with the items of a list, as texts, now and at every change."""

        def receive(documents, changes, time):
            screen(sorted(("☑ " if item.get("done") else "☐ ") + item.get("text") for item in documents))

        return self.items(shopping).on_snapshot(receive)

    def list(self, shopping):
        return self.client.collection("lists").document(shopping)

    def items(self, shopping):
        return self.list(shopping).collection("items")


def unsigned_token(user):
    """Returns an ID token of the kind that servers accept in emulator mode only: anybody can make one."""
    parts = ({"alg": "none", "typ": "JWT"}, {"sub": user})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def attempt(sentence, action, *arguments):
    """Prints whether the rules allow an action."""
    try:
        action(*arguments)
        print(f"yes  {sentence}")
    except PermissionDenied:
        print(f"no   {sentence}")


def main(address):
    alice, bob, carol, dave = (
        SharedLists(connect(address, unsigned_token(name)), name) for name in ("alice", "bob", "carol", "dave")
    )
    party = alice.create("Party")
    alice.share(party, "bob", EDITOR)
    alice.share(party, "carol", READER)
    print("Alice has created the list Party. Bob is an editor, and Carol a reader.")
    for person in (alice, bob, carol, dave):
        print(f"{person.user} finds the lists {person.lists()}")

    shown = queue.Queue()
    listener = carol.show(party, shown.put)
    print("Carol's screen:", shown.get(timeout=WAIT_SECONDS))
    lemons = bob.add(party, "lemons")
    print("Carol's screen:", shown.get(timeout=WAIT_SECONDS))
    alice.check_off(party, lemons)
    print("Carol's screen:", shown.get(timeout=WAIT_SECONDS))
    listener.unsubscribe()

    attempt("Bob may add an item.", bob.add, party, "mint")
    attempt("Bob may make himself an owner.", bob.share, party, "bob", OWNER)
    attempt("Bob may invite Dave.", bob.share, party, "dave", READER)
    attempt("Carol may add an item.", carol.add, party, "cake")
    attempt("Carol may check off an item.", carol.check_off, party, lemons)
    attempt("Carol may remove Bob.", carol.unshare, party, "bob")
    attempt("Carol may leave.", carol.unshare, party, "carol")
    attempt("Carol may read the list afterwards.", carol.list(party).get)
    attempt("Dave may read the items.", list, dave.items(party).stream())
    attempt("Alice may leave, although nobody else is an owner.", alice.unshare, party, "alice")
    attempt("Alice may make Bob an owner too.", alice.share, party, "bob", OWNER)
    attempt("Alice may leave now.", alice.unshare, party, "alice")


if __name__ == "__main__":
    main(*sys.argv[1:])
