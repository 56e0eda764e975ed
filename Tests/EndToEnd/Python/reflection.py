"""Calls a server as grpcurl does: with nothing but the definitions that its reflection service sends.

Usage: reflection.py http://ADDRESS
"""

import sys
from urllib.parse import urlsplit

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

DATABASE = "projects/reflection/databases/(default)"


def call(channel, method, request):
    """Makes a call with a request as JSON, and returns its responses as JSON."""
    input, output = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    stub = kind(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=input.SerializeToString,
        response_deserializer=output.FromString,
    )
    response = stub(json_format.ParseDict(request, input()), timeout=60)
    return [json_format.MessageToDict(message) for message in (response if method.server_streaming else [response])]


with grpc.insecure_channel(urlsplit(sys.argv[1]).netloc) as channel:
    definitions = ProtoReflectionDescriptorDatabase(channel)
    services = set(definitions.get_services())
    assert {"google.firestore.v1.Firestore", "grpc.health.v1.Health"} <= services, services
    pool = DescriptorPool(definitions)
    health = pool.FindServiceByName("grpc.health.v1.Health")
    assert call(channel, health.FindMethodByName("Check"), {}) == [{"status": "SERVING"}]
    firestore = pool.FindServiceByName("google.firestore.v1.Firestore")
    assert {"Listen", "Write", "Commit", "RunQuery"} <= set(firestore.methods_by_name)
    name = f"{DATABASE}/documents/books/hitchhiker"
    fields = {"title": {"stringValue": "The Hitchhiker's Guide"}, "pages": {"integerValue": "224"}}
    writes = [{"update": {"name": name, "fields": fields}}]
    call(channel, firestore.FindMethodByName("Commit"), {"database": DATABASE, "writes": writes})
    query = {"from": [{"collectionId": "books"}]}
    found = call(
        channel,
        firestore.FindMethodByName("RunQuery"),
        {"parent": f"{DATABASE}/documents", "structuredQuery": query},
    )
    assert [result["document"]["fields"] for result in found if "document" in result] == [fields], found
    try:
        call(channel, firestore.FindMethodByName("GetDocument"), {"name": f"{DATABASE}/documents/books/missing"})
        raise AssertionError("a missing document was found")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error
print("ok      grpcio-reflection")
