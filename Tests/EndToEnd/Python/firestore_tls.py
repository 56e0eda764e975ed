"""Calls a server by gRPC over TLS, with a client certificate and without."""

import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.cloud.firestore_v1.types import firestore as firestore_types


def make_certificate(folder: pathlib.Path, name: str) -> None:
    """Makes a certificate for localhost that has signed itself, with its key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
        + ["-keyout", folder / f"{name}-key.pem", "-out", folder / f"{name}.pem", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost"],
        check=True,
        capture_output=True,
    )


def list_documents(port: str, folder: pathlib.Path, client: str | None) -> None:
    """Lists a collection, with the certificate of a client if there is one."""
    pair = [(folder / f"{client}-key.pem").read_bytes(), (folder / f"{client}.pem").read_bytes()] if client else []
    credentials = grpc.ssl_channel_credentials((folder / "server.pem").read_bytes(), *pair)
    request = firestore_types.ListDocumentsRequest(
        parent="projects/system/databases/(default)/documents", collection_id="c"
    )
    with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
        call = channel.unary_unary(
            "/google.firestore.v1.Firestore/ListDocuments",
            request_serializer=firestore_types.ListDocumentsRequest.serialize,
            response_deserializer=firestore_types.ListDocumentsResponse.deserialize,
        )
        call(request, timeout=60)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for certificate in ["server", "client", "stranger"]:
        make_certificate(folder, certificate)
    arguments = ["--data", folder / "data", "--port", "0", "--project", "system", "--tls-certificate", folder / "server.pem"]
    arguments += ["--tls-key", folder / "server-key.pem", "--tls-client-ca", folder / "client.pem"]
    with subprocess.Popen(
        [sys.argv[1], "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            port = server.stdout.readline().strip().rsplit(":", 1)[1]
            list_documents(port, folder, "client")
            for client in [None, "stranger"]:
                try:
                    list_documents(port, folder, client)
                except grpc.RpcError as error:
                    assert error.code() == grpc.StatusCode.UNAVAILABLE, error
                else:
                    raise AssertionError(f"The server accepted a client with the certificate {client}.")
        finally:
            server.terminate()
print("gRPC over TLS: passed")
