"""Tests a running server with Google's API client library and Firestore's discovery document."""

import json
import sys
import urllib.parse
import uuid

import googleapiclient.discovery
import googleapiclient.errors
import httplib2
from googleapiclient.discovery_cache.base import Cache

DATABASE = "projects/hearth/databases/(default)"
ROOT = DATABASE + "/documents"


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, got {found!r}")


def connect(address):
    """Returns a client for the server, built from the discovery document included in the library."""
    text = googleapiclient.discovery_cache.get_static_doc("firestore", "v1")
    document = json.loads(text)
    document["rootUrl"] = document["baseUrl"] = address + "/"
    document.pop("mtlsRootUrl", None)
    methods = document["resources"]["projects"]["resources"]["databases"]["resources"]["documents"]["methods"]
    for method in methods.values():
        # The patterns exclude the root document as parent.
        method["parameters"].get("parent", {}).pop("pattern", None)
    service = googleapiclient.discovery.build_from_document(document, http=httplib2.Http())
    return service.projects().databases().documents()


def fails(request, status, code):
    try:
        request.execute()
    except googleapiclient.errors.HttpError as error:
        expect(error.resp.status, code)
        response = json.loads(error.content)
        found = (response[0] if isinstance(response, list) else response)["error"]
        expect((found["code"], found["status"]), (code, status))
        return found["message"]
    raise AssertionError(f"expected {status}")


def check_documents(documents, name):
    parent = f"{ROOT}/{name}"
    created = documents.createDocument(
        parent=ROOT,
        collectionId=name,
        documentId="a b:c",
        body={"fields": {"n": {"integerValue": "9007199254740993"}, "x": {"nullValue": None}}},
    ).execute()
    expect(created["name"], f"{parent}/a b:c")
    expect(created["fields"], {"n": {"integerValue": "9007199254740993"}, "x": {"nullValue": None}})
    expect(created["createTime"], created["updateTime"])
    expect(documents.get(name=created["name"]).execute(), created)
    expect(documents.get(name=created["name"], mask_fieldPaths=["n"]).execute()["fields"], {"n": created["fields"]["n"]})
    fails(documents.get(name=parent + "/missing"), "NOT_FOUND", 404)
    fails(documents.createDocument(parent=ROOT, collectionId=name, documentId="a b:c", body={}), "ALREADY_EXISTS", 409)
    changed = documents.patch(
        name=created["name"],
        updateMask_fieldPaths=["x", "y.z"],
        mask_fieldPaths=["y", "x"],
        currentDocument_updateTime=created["updateTime"],
        body={"fields": {"y": {"mapValue": {"fields": {"z": {"stringValue": "é"}}}}}},
    ).execute()
    expect(changed["fields"], {"y": {"mapValue": {"fields": {"z": {"stringValue": "é"}}}}})
    expect(changed["createTime"], created["createTime"])
    again = documents.patch(name=created["name"], currentDocument_updateTime=created["updateTime"], body={})
    fails(again, "FAILED_PRECONDITION", 400)
    expect(documents.get(name=created["name"], readTime=created["updateTime"]).execute(), created)
    fails(documents.patch(name=parent + "/missing", currentDocument_exists=True, body={}), "NOT_FOUND", 404)
    expect(documents.patch(name=parent + "/d", body={}).execute()["name"], parent + "/d")
    expect(documents.delete(name=parent + "/d", currentDocument_exists=True).execute(), {})
    fails(documents.delete(name=parent + "/d", currentDocument_exists=True), "NOT_FOUND", 404)
    expect(documents.delete(name=parent + "/d").execute(), {})


def check_lists(documents, name):
    for number in range(5):
        documents.createDocument(
            parent=f"{ROOT}/{name}/p", collectionId="l", documentId=f"d{number}", body={"fields": {"n": {"integerValue": -number}}}
        ).execute()

    def names(parent, collection, **options):
        request = documents.list(parent=parent, collectionId=collection, **options)
        found = []
        while request is not None:
            response = request.execute()
            found += [document["name"].rpartition("/")[2] for document in response.get("documents", [])]
            request = documents.list_next(request, response)
        return found

    parent = f"{ROOT}/{name}/p"
    expect(names(parent, "l", pageSize=2), ["d0", "d1", "d2", "d3", "d4"])
    expect(names(parent, "l", pageSize=2, orderBy="n"), ["d4", "d3", "d2", "d1", "d0"])
    expect(names(ROOT, name), ["a b:c"])
    expect(names(ROOT, name, showMissing=True), ["a b:c", "p"])
    expect(names(ROOT, name, recursive=True, pageSize=4), ["a b:c", "d0", "d1", "d2", "d3", "d4"])
    # All subcollections of a document: the collection ID is empty.
    expect(names(parent, "", pageSize=3), ["d0", "d1", "d2", "d3", "d4"])
    fails(documents.list(parent=ROOT, collectionId=name, showMissing=True, orderBy="n"), "INVALID_ARGUMENT", 400)
    fails(documents.list(parent=ROOT, collectionId=name, pageToken="?"), "INVALID_ARGUMENT", 400)
    expect(documents.listCollectionIds(parent=parent, body={}).execute(), {"collectionIds": ["l"]})
    response = documents.listCollectionIds(parent=ROOT, body={"pageSize": 1}).execute()
    expect(len(response["collectionIds"]), 1)


def check_calls(documents, name):
    parent = f"{ROOT}/{name}"
    write = {"update": {"name": parent + "/w", "fields": {"n": {"doubleValue": "NaN"}}}}
    result = documents.commit(database=DATABASE, body={"writes": [write]}).execute()
    expect(result["writeResults"], [{"updateTime": result["commitTime"]}])
    result = documents.batchWrite(
        database=DATABASE, body={"writes": [{"delete": parent + "/w"}, {**write, "currentDocument": {"exists": True}}]}
    )
    fails(result, "INVALID_ARGUMENT", 400)
    result = documents.batchWrite(
        database=DATABASE, body={"writes": [{"delete": parent + "/v", "currentDocument": {"exists": True}}, write]}
    ).execute()
    expect([status.get("code", 0) for status in result["status"]], [5, 0])
    begun = documents.beginTransaction(database=DATABASE, body={"options": {"readWrite": {}}}).execute()["transaction"]
    expect(documents.get(name=parent + "/w", transaction=begun).execute()["name"], parent + "/w")
    found = documents.batchGet(
        database=DATABASE, body={"documents": [parent + "/u", parent + "/w"], "transaction": begun}
    ).execute()
    expect([entry.get("missing") for entry in found], [None, parent + "/u"])
    documents.commit(database=DATABASE, body={"transaction": begun, "writes": [{"delete": parent + "/w"}]}).execute()
    message = fails(documents.commit(database=DATABASE, body={"transaction": begun}), "INVALID_ARGUMENT", 400)
    assert "transaction has expired" in message, message
    begun = documents.beginTransaction(database=DATABASE, body={"options": {"readOnly": {}}}).execute()["transaction"]
    expect(documents.rollback(database=DATABASE, body={"transaction": begun}).execute(), {})
    fails(documents.executePipeline(database=DATABASE, body={}), "UNIMPLEMENTED", 501)
    fails(documents.listen(database=DATABASE, body={}), "UNIMPLEMENTED", 501)


def check_queries(documents, name):
    query = {"from": [{"collectionId": name}], "orderBy": [{"field": {"fieldPath": "n"}}]}
    found = documents.runQuery(parent=ROOT, body={"structuredQuery": query, "newTransaction": {"readOnly": {}}}).execute()
    expect(list(found[0]), ["transaction"])
    expect([entry["document"]["name"] for entry in found[1:]], [f"{ROOT}/{name}/a b:c"])
    expect(documents.runQuery(parent=f"{ROOT}/{name}/p", body={"structuredQuery": {"from": [{"collectionId": "l"}], "limit": 1}}).execute()[0]["document"]["name"], f"{ROOT}/{name}/p/l/d0")
    found = documents.runAggregationQuery(
        parent=f"{ROOT}/{name}/p",
        body={
            "structuredAggregationQuery": {
                "structuredQuery": {"from": [{"collectionId": "l"}]},
                "aggregations": [{"count": {"upTo": "3"}}, {"avg": {"field": {"fieldPath": "m"}}}],
            }
        },
    ).execute()
    expect(found[0]["result"]["aggregateFields"], {"field_1": {"integerValue": "0"}, "field_2": {"nullValue": None}})
    parts = documents.partitionQuery(
        parent=ROOT, body={"structuredQuery": {"from": [{"collectionId": "l", "allDescendants": True}]}, "partitionCount": "2"}
    ).execute()
    expect(parts, {})
    body = {"structuredQuery": {**query, "where": {"fieldFilter": {"field": {"fieldPath": "n"}, "op": "MORE"}}}}
    message = fails(documents.runQuery(parent=ROOT, body=body), "INVALID_ARGUMENT", 400)
    assert "structuredQuery.where.fieldFilter.op" in message, message


def main():
    documents = connect(sys.argv[1])
    name = "d" + uuid.uuid4().hex
    for check in [check_documents, check_lists, check_calls, check_queries]:
        check(documents, name)
        print(f"ok      google-api-python-client: {check.__name__.removeprefix('check_')}")


main()
