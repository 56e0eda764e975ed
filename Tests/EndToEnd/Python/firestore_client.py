"""Tests a running server with Google's Firestore client and one of its transports: firestore_client.py ADDRESS rest|grpc"""

import asyncio
import datetime
import os
import sys
import uuid

import google.api_core.exceptions as exceptions
import google.auth.credentials
from google.cloud import firestore_v1 as firestore
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports.rest import FirestoreRestTransport
from google.cloud.firestore_v1.vector import Vector

checks = []


def check(function):
    checks.append(function)
    return function


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, got {found!r}")


def fails(wanted, function, *arguments, **options):
    """Expects an error status and returns its message. With REST, the client's exceptions contain only the HTTP status."""
    try:
        result = function(*arguments, **options)
        if hasattr(result, "__next__"):
            list(result)
    except exceptions.GoogleAPICallError as error:
        if error.grpc_status_code:
            expect(error.grpc_status_code.name, wanted)
            return error.message
        response = error.response.json()
        found = (response[0] if isinstance(response, list) else response)["error"]
        expect(found["status"], wanted)
        expect(found["code"], error.response.status_code)
        return found["message"]
    raise AssertionError(f"expected {wanted}")


def connect(project="hearth", database="(default)"):
    """Returns Google's client, which speaks gRPC if it finds the address in the environment."""
    if transport == "grpc":
        return firestore.Client(project=project, database=database)
    credentials = google.auth.credentials.AnonymousCredentials()
    client = firestore.Client(project=project, credentials=credentials, database=database)
    client._firestore_api_internal = FirestoreClient(
        transport=FirestoreRestTransport(host=host, url_scheme="http", credentials=credentials)
    )
    return client


def collection(client):
    """Returns a new collection."""
    return client.collection("c" + uuid.uuid4().hex)


@check
def databases(client):
    path = "d" + uuid.uuid4().hex + "/a"
    others = [connect(database="tests"), connect(project="shop"), connect(project="shop", database="tests")]
    for number, other in enumerate([client] + others):
        expect(other.document(path).get().exists, False)
        other.document(path).set({"n": number})
    for number, other in enumerate([client] + others):
        expect(other.document(path).get().to_dict(), {"n": number})
        expect([found.to_dict() for found in other.collection(path.split("/")[0]).stream()], [{"n": number}])
        transaction = other.transaction()

        @firestore.transactional
        def count(transaction):
            snapshot = other.document(path).get(transaction=transaction)
            transaction.update(snapshot.reference, {"n": snapshot.get("n") + 10})

        count(transaction)
        expect(other.document(path).get().to_dict(), {"n": number + 10})


@check
def values(client):
    here = collection(client)
    data = {
        "null": None,
        "true": True,
        "integer": 9007199254740993,
        "least": -(2**63),
        "double": 0.1,
        "whole": 3.0,
        "infinity": float("inf"),
        "string": "é e\u0301 \u2028 \" \\ \0",
        "bytes": b"\xfb\xff\x00",
        "time": datetime.datetime(1843, 1, 1, 16, 58, 32, 123456, tzinfo=datetime.timezone.utc),
        "point": firestore.GeoPoint(53.55, -9.98),
        "reference": here.document("other"),
        "array": [1, "two", {"three": [3.5]}],
        "map": {"a.b": {}, "`$x": {"$y": 1}},
        "vector": Vector([1.0, -2.5]),
        "$dollar": "kept",
    }
    document = here.document("é")
    document.set(data)
    found = document.get()
    expect(found.to_dict(), data)
    expect(found.get("map.`a.b`"), {})
    # Different Unicode normalizations are different documents.
    expect(here.document("e\u0301").get().exists, False)


@check
def writes(client):
    here = collection(client)
    document = here.document("d")
    fails("NOT_FOUND", document.update, {"a": 1})
    document.create({"a": 1, "b": {"c": 2, "d": 3}, "n": 1})
    message = fails("ALREADY_EXISTS", document.create, {})
    assert "Document already exists" in message, message
    document.set({"b": {"c": 4}}, merge=True)
    expect(document.get().to_dict(), {"a": 1, "b": {"c": 4, "d": 3}, "n": 1})
    document.set({"b": {"c": 5}, "a": 7}, merge=["b"])
    expect(document.get().to_dict(), {"a": 1, "b": {"c": 5}, "n": 1})
    document.update({"b.x": 1, "a": firestore.DELETE_FIELD})
    result = document.update(
        {
            "n": firestore.Increment(2.5),
            "time": firestore.SERVER_TIMESTAMP,
            "list": firestore.ArrayUnion([1, 2]),
            "most": firestore.Maximum(9),
            "least": firestore.Minimum(3),
        }
    )
    found = document.get()
    expect(found.update_time, result.update_time)
    assert found.create_time < found.update_time
    fields = found.to_dict()
    assert abs(fields.pop("time") - result.update_time) < datetime.timedelta(milliseconds=1)
    expect(fields, {"b": {"c": 5, "x": 1}, "n": 3.5, "list": [1, 2], "most": 9, "least": 3})
    document.update({"list": firestore.ArrayRemove([1])})
    expect(document.get().get("list"), [2])
    # A different update time, and one in the future.
    fails("FAILED_PRECONDITION", document.delete, option=client.write_option(last_update_time=found.update_time))
    later = found.update_time + datetime.timedelta(hours=1)
    fails("INVALID_ARGUMENT", document.delete, option=client.write_option(last_update_time=later))
    document.delete()
    expect(document.get().exists, False)
    document.delete()
    time, added = here.add({"x": 1})
    expect(len(added.id), 20)
    expect(added.get().update_time, time)
    fails("INVALID_ARGUMENT", here.document("__reserved__").set, {})
    fails("INVALID_ARGUMENT", here.document("large").set, {"x": "x" * 1_048_488})


@check
def batches(client):
    here = collection(client)
    batch = client.batch()
    for number in range(60):
        batch.set(here.document(str(number)), {"n": number})
    batch.delete(here.document("7"))
    batch.update(here.document("8"), {"n": "eight"})
    results = batch.commit()
    expect(len(results), 62)
    expect(here.document("7").get().exists, False)
    batch = client.batch()
    batch.set(here.document("new"), {})
    batch.update(here.document("7"), {"n": 7})
    fails("NOT_FOUND", batch.commit)
    expect(here.document("new").get().exists, False)
    # Individual writes.
    writer = client.bulk_writer()
    failed = []
    writer.on_write_error(lambda error, _: failed.append(error.code) or False)
    for number in range(100, 150):
        writer.create(here.document(str(number)), {"n": number})
    writer.update(here.document("7"), {"n": 7})
    writer.close()
    expect(here.count().get()[0][0].value, 109)
    expect(failed, [5])


@check
def reads(client):
    here = collection(client)
    for name in ["a", "b"]:
        here.document(name).set({"name": name, "x": {"y": 1, "z": 2}})
    found = list(
        client.get_all(
            [here.document(name) for name in ["a", "missing", "b", "a"]],
            field_paths=["x.y"],
        )
    )
    expect([entry.exists for entry in found], [True, True, False])
    expect(found[0].to_dict(), {"x": {"y": 1}})
    assert found[0].read_time >= found[0].update_time
    here.document("missing").collection("below").document("d").set({})
    expect([entry.id for entry in here.list_documents(page_size=2)], ["a", "b", "missing"])
    expect([entry.id for entry in here.document("missing").collections()], ["below"])
    assert here.id in [entry.id for entry in client.collections()]
    # Point-in-time reads.
    before = here.document("a").get()
    here.document("a").set({"name": "changed"})
    expect(here.document("a").get(read_time=before.update_time).get("name"), "a")
    expect([entry.get("name") for entry in here.order_by("name").stream(read_time=before.read_time)], ["a", "b"])
    future = before.update_time + datetime.timedelta(hours=1)
    fails("INVALID_ARGUMENT", here.document("a").get, read_time=future)


@check
def numeric_ids(client):
    here = collection(client)
    order = [
        "__id-9223372036854775808__", "__id-2__", "__id7__", "__id12__", "__id9223372036854775807__",
        "12", "7", "A", "Aa", "__id", "__id1_", "_id1__", "a",
    ]  # fmt: skip
    for name in reversed(order):
        here.document(name).set({})
    expect([found.id for found in here.stream()], order)
    expect([found.id for found in here.list_documents(page_size=3)], order)


@check
def queries(client):
    here = collection(client)
    for number in range(10):
        here.document(f"d{number}").set(
            {"n": number, "odd": number % 2 == 1, "tags": [number % 3, "all"], "sub": {"m": -number}}
        )
    here.document("nan").set({"n": float("nan")})
    here.document("null").set({"n": None})

    def ids(query):
        return [found.id for found in query.stream()]

    expect(ids(here.where(filter=FieldFilter("n", ">", 7))), ["d8", "d9"])
    expect(ids(here.where(filter=FieldFilter("n", "==", None))), ["null"])
    expect(ids(here.where(filter=FieldFilter("n", "==", float("nan")))), ["nan"])
    expect(ids(here.where(filter=FieldFilter("n", "in", [1, 2.0]))), ["d1", "d2"])
    expect(ids(here.where(filter=FieldFilter("n", "not-in", list(range(8))))), ["nan", "d8", "d9"])
    expect(ids(here.where(filter=FieldFilter("tags", "array_contains", 0))), ["d0", "d3", "d6", "d9"])
    expect(ids(here.where(filter=FieldFilter("tags", "array_contains_any", [1, 7]))), ["d1", "d4", "d7"])
    expect(
        ids(here.where(filter=Or([FieldFilter("n", "==", 1), And([FieldFilter("odd", "==", True), FieldFilter("n", ">", 6)])]))),
        ["d1", "d7", "d9"],
    )
    expect(ids(here.order_by("sub.m").limit(2)), ["d9", "d8"])
    expect(ids(here.order_by("n", direction="DESCENDING").limit(2)), ["d9", "d8"])
    expect(ids(here.order_by("n").start_at({"n": 3}).end_before({"n": 5})), ["d3", "d4"])
    expect(ids(here.order_by("n").start_after({"n": 3}).end_at({"n": 5})), ["d4", "d5"])
    expect(ids(here.order_by("n").offset(3).limit(1)), ["d1"])
    expect([found.id for found in here.order_by("n").limit_to_last(2).get()], ["d8", "d9"])
    expect(ids(here.order_by("n").start_after(here.document("d7").get())), ["d8", "d9"])
    expect(ids(here.where(filter=FieldFilter("__name__", ">=", here.document("nan")))), ["nan", "null"])
    expect([found.to_dict() for found in here.where(filter=FieldFilter("n", "==", 4)).select(["sub.m"]).stream()], [{"sub": {"m": -4}}])
    expect([found.to_dict() for found in here.where(filter=FieldFilter("n", "==", 4)).select([]).stream()], [{}])
    expect(ids(here.where(filter=FieldFilter("n", "==", 77))), [])
    message = fails("INVALID_ARGUMENT", ids, here.limit(-1))
    assert "limit" in message, message


@check
def groups_and_descendants(client):
    here = collection(client)
    group = "g" + uuid.uuid4().hex
    for number in range(300):
        here.document(f"d{number % 3}").collection(group).document(f"e{number}").set({"n": number})
    everything = client.collection_group(group)
    expect(len(list(everything.stream())), 300)
    parts = list(everything.get_partitions(4))
    expect(sum(len(list(part.query().stream())) for part in parts), 300)
    expect(len(parts), 3)
    expect(len(list(here.recursive().stream())), 300)
    expect(client.recursive_delete(here.document("d0")), 101)
    expect(client.recursive_delete(here), 200)
    expect(list(everything.stream()), [])


@check
def aggregations(client):
    here = collection(client)
    for number in range(5):
        here.document(str(number)).set({"n": number, "s": "x"})
    found = here.count("all").sum("n", alias="sum").avg("n").get()[0]
    expect({entry.alias: entry.value for entry in found}, {"all": 5, "sum": 10, "field_1": 2.0})
    expect(here.where(filter=FieldFilter("n", ">", 2)).count().get()[0][0].value, 2)
    expect(here.limit(3).sum("n").get()[0][0].value, 3)


@check
def vectors(client):
    here = collection(client)
    for name, vector in {"red": [1.0, 2.0, 3.0], "near": [2.0, 2.0, 3.0], "far": [9.0, 9.0, 9.0]}.items():
        here.document(name).set({"v": Vector(vector)})
    found = here.find_nearest(
        vector_field="v",
        query_vector=Vector([1.0, 2.0, 3.0]),
        distance_measure=DistanceMeasure.EUCLIDEAN,
        limit=5,
        distance_result_field="distance",
        distance_threshold=1.0,
    ).get()
    expect([(entry.id, entry.get("distance")) for entry in found], [("red", 0.0), ("near", 1.0)])


@check
def transactions(client):
    here = collection(client)
    counter = here.document("counter")
    counter.set({"n": 1})

    @firestore.transactional
    def increment(transaction, meanwhile=None):
        number = counter.get(transaction=transaction).get("n")
        expect([found.id for found in transaction.get(here.where(filter=FieldFilter("n", ">", 0)))], ["counter"])
        expect(here.count().get(transaction=transaction)[0][0].value, 1)
        if meanwhile:
            counter.update({"n": meanwhile})
        transaction.update(counter, {"n": number + 1})

    increment(client.transaction())
    expect(counter.get().get("n"), 2)
    if transport == "grpc":
        # The client repeats the transaction. The second time, nothing is changed meanwhile.
        increment(client.transaction(), 10)
        expect(counter.get().get("n"), 11)
        counter.update({"n": 10})
    else:
        # With REST, it cannot distinguish this conflict.
        fails("ABORTED", increment, client.transaction(), 10)
    expect(counter.get().get("n"), 10)

    @firestore.transactional
    def give_up(transaction):
        transaction.update(counter, {"n": 0})
        raise KeyError("no")

    try:
        give_up(client.transaction())
    except KeyError:
        pass
    expect(counter.get().get("n"), 10)

    @firestore.transactional
    def read_only(transaction):
        before = counter.get(transaction=transaction).get("n")
        counter.update({"n": 12})
        expect(counter.get(transaction=transaction).get("n"), before)

    read_only(client.transaction(read_only=True))


@check
def generated_client(client):
    """Methods of the API that the high-level client doesn't use."""
    api = client._firestore_api
    database = client._database_string
    parent = f"{database}/documents/{collection(client).id}/p"

    def create(name, **fields):
        return api.create_document(
            request={
                "parent": parent,
                "collection_id": "l",
                "document_id": name,
                "document": {"fields": {field: {"integer_value": value} for field, value in fields.items()}},
            }
        )

    made = create("d", n=1)
    expect(made.name, parent + "/l/d")
    expect(api.get_document(request={"name": made.name}).fields["n"].integer_value, 1)
    message = fails("NOT_FOUND", api.get_document, request={"name": parent + "/l/e"})
    assert "p/l/e" in message, message
    changed = api.update_document(
        request={
            "document": types.Document(name=made.name, fields={"m": types.Value(null_value=0)}),
            "update_mask": {"field_paths": ["m"]},
            "mask": {"field_paths": ["m"]},
            "current_document": {"update_time": made.update_time},
        }
    )
    expect(list(changed.fields), ["m"])
    # A transaction started by a read.
    stream = list(
        api.batch_get_documents(request={"database": database, "documents": [made.name], "new_transaction": {}})
    )
    expect(stream[0].found.name, made.name)
    begun = stream[0].transaction
    assert begun
    api.commit(request={"database": database, "transaction": begun, "writes": [{"delete": made.name}]})
    begun = api.begin_transaction(request={"database": database, "options": {"read_only": {}}}).transaction
    api.rollback(request={"database": database, "transaction": begun})
    message = fails("INVALID_ARGUMENT", api.commit, request={"database": database, "transaction": begun})
    assert "transaction has expired" in message, message
    for number in range(5):
        create(str(number), n=-number)
    listed = api.list_documents(
        request={"parent": parent, "collection_id": "l", "order_by": "n desc, __name__", "page_size": 2}
    )
    expect([document.name.rpartition("/")[2] for document in listed], ["0", "1", "2", "3", "4"])
    expect(list(api.list_collection_ids(request={"parent": parent})), ["l"])
    status = api.batch_write(
        request={"database": database, "writes": [{"delete": parent + "/l/0"}], "labels": {"a": "b"}}
    )
    expect([entry.code for entry in status.status], [0])


@check
def plans(client):
    here = collection(client)
    for number in range(3):
        here.document(str(number)).set({"n": number})
    results = here.order_by("n").limit(2).get(explain_options=firestore.ExplainOptions(analyze=True))
    expect([found.id for found in results], ["0", "1"])
    metrics = results.get_explain_metrics()
    assert metrics.plan_summary.indexes_used, metrics
    expect(metrics.execution_stats.results_returned, 2)
    assert metrics.execution_stats.execution_duration > datetime.timedelta(), metrics
    assert int(metrics.execution_stats.debug_stats["index_entries_scanned"]) >= 2, metrics


def asynchronous(client):
    """The asynchronous client, which speaks gRPC only."""

    async def run():
        other = firestore.AsyncClient(project=client.project)
        here = other.collection(collection(client).id)
        await asyncio.gather(*[here.document(str(number)).set({"n": number}) for number in range(200)])
        query = here.where(filter=FieldFilter("n", ">=", 150)).order_by("n")
        expect([found.get("n") async for found in query.stream()], list(range(150, 200)))
        expect((await here.count().get())[0][0].value, 200)
        counter = here.document("0")

        @firestore.async_transactional
        async def increment(transaction):
            number = (await counter.get(transaction=transaction)).get("n")
            transaction.update(counter, {"n": number + 1})

        # Conflicts are repeated by the client.
        await asyncio.gather(*[increment(other.transaction(max_attempts=50)) for _ in range(8)])
        expect((await counter.get()).get("n"), 8)
        other.close()

    asyncio.run(run())


def large_documents(client):
    """Messages near the limits, in both directions, and a stream that the client does not read to its end."""
    here = collection(client)
    for number in range(12):
        here.document(str(number)).set({"text": "x" * 1_000_000, "n": number})
    expect(len(list(here.list_documents(page_size=100))), 12)
    expect(sum(len(found.get("text")) for found in here.stream()), 12_000_000)
    stream = here.stream()
    expect(next(stream).id, "0")
    stream.close()
    batch = client.batch()
    for number in range(9):
        batch.set(here.document(f"b{number}"), {"text": "y" * 1_000_000})
    expect(len(batch.commit()), 9)
    message = fails("NOT_FOUND", here.document("é%" * 490).update, {"a": 1})
    assert "é%é%" in message, message


if __name__ == "__main__":
    host, transport = sys.argv[1].removeprefix("http://"), sys.argv[2]
    if transport == "grpc":
        os.environ["FIRESTORE_EMULATOR_HOST"] = host
        checks += [asynchronous, large_documents]
    main_client = connect()
    for function in checks:
        function(main_client)
        print(f"ok      google-cloud-firestore, {transport}: {function.__name__}")
