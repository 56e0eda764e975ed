"""Clients of Firestore whose server dies, and that go on at another server of the same engine.

A load balancer has one address, which it forwards to one of two servers on PostgreSQL.

usage: firestore_engine.py HEARTH
"""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import requests
from google.cloud import firestore

from firestore_listeners import WAIT_SECONDS, check_restarts


def programs_folder():
    """The folder of the programs of PostgreSQL; None without them."""
    return max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)


class Engine:
    """A PostgreSQL server in a temporary folder."""

    def __init__(self, folder):
        programs = programs_folder()
        self.folder = folder
        os.mkdir(folder)
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
        if self.user:
            shutil.chown(folder, "postgres")
        subprocess.run(
            [*self.user, programs + "/initdb", "-D", folder + "/data", "-U", "hearth", "-A", "trust", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        self.control = [*self.user, programs + "/pg_ctl", "-D", folder + "/data", "-o", options, "-l", folder + "/log", "-s"]
        subprocess.run([*self.control, "-w", "-t", "120", "start"], check=True)
        self.url = f"postgresql://hearth@/postgres?host={folder}"

    def stop(self):
        subprocess.run([*self.control, "-m", "immediate", "stop"], check=False)


class Server:
    """A server of the engine, which can be killed."""

    def __init__(self, program, engine, folder):
        self.process = subprocess.Popen(
            [program, "serve", "--engine", engine.url, "--server-folder", folder, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=open(folder + ".log", "a"),
            text=True,
        )
        address = self.process.stdout.readline().strip()
        assert address, open(folder + ".log").read()
        self.port = int(address.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()


class LoadBalancer:
    """An address whose connections go to the server that is set at the time."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.target = None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=(source, sink), daemon=True).start()

    @staticmethod
    def forward(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Servers:
    """Two servers, the first of which has the connections of the load balancer."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.engine = Engine(folder + "/engine")
        self.balancer = LoadBalancer()
        self.count = 0
        self.running = []
        try:
            for _ in range(2):
                self.running.append(self.start())
        except BaseException:
            self.stop()
            raise
        self.balancer.target = self.running[0].port

    def start(self):
        self.count += 1
        return Server(self.program, self.engine, f"{self.folder}/server{self.count}")

    def fail_over(self):
        """Kills the server that has the connections; the other one gets them, and a new one is started."""
        self.balancer.target = self.running[1].port
        self.running.pop(0).kill()
        self.running.append(self.start())

    def stop(self):
        for server in self.running:
            server.kill()
        self.engine.stop()


def check_transaction(db, servers):
    """A transaction whose server dies is aborted on the other one, and run again there."""
    account = db.document("accounts/a")
    account.set({"balance": 10})
    attempts = []

    @firestore.transactional
    def withdraw(transaction):
        balance = account.get(transaction=transaction).get("balance")
        attempts.append(balance)
        if len(attempts) == 1:
            servers.fail_over()
            # Another client, whose change must not get lost.
            db.document("accounts/a").update({"balance": firestore.Increment(5)})
        transaction.update(account, {"balance": balance - 1})

    withdraw(db.transaction())
    assert attempts == [10, 15], attempts
    assert account.get().to_dict() == {"balance": 14}


class Channel:
    """A WebChannel of the method Listen, with long polling."""

    PATH = "/google.firestore.v1.Firestore/Listen/channel"
    DATABASE = "projects/demo/databases/(default)"

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}{self.PATH}"
        self.acknowledged = 0
        response = self.post({"RID": "1", "CVER": "22", "X-HTTP-Session-Id": "gsessionid"}, "count=0")
        assert response.status_code == 200, response.text
        self.sid = json.loads(response.text.split("\n", 1)[1])[0][1][1]

    def query(self, query):
        return {"VER": "8", "database": self.DATABASE, "zx": "a", "t": "1", **query}

    def post(self, query, body):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return requests.post(self.url, params=self.query(query), data=body, headers=form, timeout=WAIT_SECONDS)

    def add_target(self, token=None):
        target = {
            "query": {
                "parent": self.DATABASE + "/documents",
                "structuredQuery": {"from": [{"collectionId": "notes"}], "orderBy": [{"field": {"fieldPath": "__name__"}}]},
            },
            "targetId": 2,
        }
        if token:
            target["resumeToken"] = token
        message = urllib.parse.quote(json.dumps({"database": self.DATABASE, "addTarget": target}), safe="")
        response = self.post({"RID": "2", "SID": self.sid, "AID": "0"}, f"count=1&ofs=0&req0___data__={message}")
        assert response.status_code == 200, response.text

    def poll(self):
        query = {"RID": "rpc", "SID": self.sid, "AID": str(self.acknowledged), "CI": "1", "TYPE": "xmlhttp"}
        return requests.get(self.url, params=self.query(query), timeout=WAIT_SECONDS)

    def receive(self, until):
        """Returns the documents and the last token until `until` is true of the documents and a snapshot is complete."""
        documents, token = [], None
        while True:
            text = self.poll().text
            while text:
                length, text = text.split("\n", 1)
                # The length is in UTF-16 units, which these messages have one of for each character.
                chunk, text = text[: int(length)], text[int(length) :]
                for number, message in json.loads(chunk):
                    self.acknowledged = number
                    part = message[0] if isinstance(message, list) and isinstance(message[0], dict) else {}
                    if "documentChange" in part:
                        documents.append(part["documentChange"]["document"]["name"].rsplit("/", 1)[1])
                    change = part.get("targetChange", {})
                    token = change.get("resumeToken", token)
                    if "readTime" in change and token and until(documents):
                        return documents, token


def check_web_channel(db, servers):
    """A channel is unknown to another server, where the client begins another one and goes on after its last snapshot."""
    for name in "ab":
        db.document(f"notes/{name}").set({})
    channel = Channel(servers.balancer.port)
    channel.add_target()
    documents, token = channel.receive(lambda documents: len(documents) == 2)
    assert documents == ["a", "b"], documents
    servers.fail_over()
    response = channel.poll()
    assert response.status_code == 400 and "Unknown SID" in response.text, response.text
    db.document("notes/c").set({}, timeout=WAIT_SECONDS)
    channel = Channel(servers.balancer.port)
    channel.add_target(token)
    documents, _ = channel.receive(lambda documents: "c" in documents)
    assert documents == ["c"], documents


def main(program):
    if not programs_folder():
        print("PostgreSQL is not installed: clients of several servers are NOT TESTED", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        # PostgreSQL's user enters it.
        os.chmod(folder, 0o755)
        servers = Servers(program, folder)
        try:
            os.environ["FIRESTORE_EMULATOR_HOST"] = f"127.0.0.1:{servers.balancer.port}"
            db = firestore.Client(project="demo")
            start = time.monotonic()
            check_restarts(db, servers.fail_over)
            for check in (check_transaction, check_web_channel):
                check(db, servers)
            print(f"google-cloud-firestore and WebChannel on another server: passed, in {time.monotonic() - start:.1f} s")
        finally:
            servers.stop()


if __name__ == "__main__":
    main(sys.argv[1])
