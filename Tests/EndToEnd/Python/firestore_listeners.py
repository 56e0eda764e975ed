"""Listeners of google-cloud-firestore over gRPC, while the server is killed and restarted.

usage: firestore_listeners.py HEARTH
"""
import os
import random
import subprocess
import sys
import tempfile
import threading

from google.cloud import firestore
from google.cloud.firestore_v1 import FieldFilter

WAIT_SECONDS = 300


class Server:
    """A server that can be killed and started again with the same data and port."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.port = "0"

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.folder + "/data", "--port", self.port],
            stdout=subprocess.PIPE,
            stderr=open(self.folder + "/log", "a"),
            text=True,
        )
        address = self.process.stdout.readline().strip()
        assert address, open(self.folder + "/log").read()
        self.port = address.rsplit(":", 1)[1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()


class View:
    """What a listener shows, and all changes that it was told."""

    def __init__(self):
        self.changed = threading.Condition()
        self.documents = {}
        self.times = []
        self.changes = []

    def receive(self, documents, changes, time):
        with self.changed:
            self.documents = {document.id: document.to_dict() for document in documents}
            self.times.append(time)
            self.changes += [(change.type.name, change.document.id, change.document.update_time) for change in changes]
            self.changed.notify_all()

    def wait(self, expected):
        with self.changed:
            reached = self.changed.wait_for(lambda: self.documents == expected, WAIT_SECONDS)
            assert reached, f"expected {expected}, found {self.documents}"


def check_targets(db):
    """Collections, queries, groups and documents show what is committed."""
    everything, high, group, document, missing = (View() for _ in range(5))
    books = db.collection("books")
    listeners = [
        books.on_snapshot(everything.receive),
        books.where(filter=FieldFilter("n", ">", 1)).order_by("n", direction="DESCENDING").limit(2).on_snapshot(high.receive),
        db.collection_group("pages").on_snapshot(group.receive),
        books.document("a").on_snapshot(document.receive),
        books.document("missing").on_snapshot(missing.receive),
    ]
    for view in (everything, high, group, document, missing):
        view.wait({})
    batch = db.batch()
    for index, name in enumerate("abcd"):
        batch.set(books.document(name), {"n": index})
    batch.set(books.document("a").collection("pages").document("1"), {"text": "x"})
    batch.commit()
    everything.wait({"a": {"n": 0}, "b": {"n": 1}, "c": {"n": 2}, "d": {"n": 3}})
    high.wait({"c": {"n": 2}, "d": {"n": 3}})
    group.wait({"1": {"text": "x"}})
    document.wait({"a": {"n": 0}})
    books.document("a").update({"n": 9})
    high.wait({"a": {"n": 9}, "d": {"n": 3}})
    books.document("d").delete()
    high.wait({"a": {"n": 9}, "c": {"n": 2}})
    books.document("a").delete()
    document.wait({})
    everything.wait({"b": {"n": 1}, "c": {"n": 2}})
    for view in (everything, high, group, document):
        assert view.times == sorted(view.times)
    for view in (everything, group, document):
        assert len(view.changes) == len(set(view.changes)), view.changes
    # One for the first state, and one for each of the four commits: never a part of one.
    assert len(everything.times) == 5, everything.times
    for listener in listeners:
        listener.unsubscribe()


def check_restarts(db, restart):
    """A listener misses nothing and sees nothing twice when `restart` kills the server, and another one takes its address."""
    view = View()
    expected = {}
    counters = db.collection("counters")
    listener = counters.on_snapshot(view.receive)
    view.wait({})
    number = 0
    for round in range(3):
        for _ in range(20):
            number += 1
            name = str(random.randrange(8))
            counters.document(name).set({"n": number})
            expected[name] = {"n": number}
        restart()
        number += 1
        counters.document(f"after {round}").set({"n": number}, timeout=WAIT_SECONDS)
        expected[f"after {round}"] = {"n": number}
        view.wait(expected)
    assert view.times == sorted(view.times)
    assert len(view.changes) == len(set(view.changes))
    listener.unsubscribe()


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        server.start()
        try:
            os.environ["FIRESTORE_EMULATOR_HOST"] = "127.0.0.1:" + server.port
            db = firestore.Client(project="demo")
            check_targets(db)
            check_restarts(db, server.restart)
        finally:
            server.kill()
    print("google-cloud-firestore over grpc: listeners passed")


if __name__ == "__main__":
    main(sys.argv[1])
