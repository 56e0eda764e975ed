import DocumentModel
import FuzzedInputs
import HTTPTypes
import HearthAPI
import HummingbirdCore
import ServerTestSupport
import Testing

@testable import HearthHTTP

/// JSON-RPC over HTTP.
@Suite(.timeLimit(.minutes(10))) struct RPCRouteTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/missing"]}"#
    private static let notification = #"{"jsonrpc":"2.0","method":"server.info"}"#

    @Test
    func `The response to a call has status 200 and the default headers`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: Self.info)
                #expect(response.status == 200)
                #expect(response.version == "HTTP/1.1")
                #expect(response["content-type"] == "application/json")
                #expect(response["x-content-type-options"] == "nosniff")
                #expect(response["cache-control"] == "no-store")
                #expect(response["date"] != nil)
                #expect(response["server"] == nil)
                #expect(response["connection"] == nil)
                #expect(
                    response.body.hasPrefix(
                        """
                        {"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"Document not found: a/missing",\
                        "data":{"status":"NOT_FOUND","path":"a/missing","readTime":"0001-01-01T00:00:00.000000Z","epoch":"
                        """
                    )
                )
            }
        }
    }

    @Test(
        arguments: ["", "{", "[]", "7", #"{"jsonrpc":"2.0","id":1,"method":"x"}"#]
    )
    func `JSON-RPC errors have status 200`(body: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: body)
                #expect(response.status == 200)
                #expect(response.body.utf8.starts(with: #"{"jsonrpc":"2.0","id":"#.utf8))
            }
        }
    }

    @Test(
        arguments: [
            "application/json", "Application/JSON", "application/json-rpc", "application/jsonrequest",
            "application/json; charset=utf-8",
            #"application/json;charset="UTF-8""#, "application/json ;x=y",
        ]
    )
    func `JSON content types are accepted in any spelling`(type: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/rpc", ["Content-Type: \(type)"], body: Self.info)
                #expect(response.status == 200)
            }
        }
    }

    @Test(
        arguments: [
            ([], "Content-Type: application/json"), (["Content-Type: text/plain"], "Content-Type: application/json"),
            (["Content-Type: application/x-www-form-urlencoded"], "Content-Type: application/json"),
            (["Content-Type: application/json; charset=latin1"], "Content-Type: application/json"),
            (["Content-Type: application/jsonp"], "Content-Type: application/json"),
            (["Content-Type: application/json", "Content-Encoding: gzip"], "Content-Encoding"),
        ] as [([String], String)]
    )
    func `Other content types and encodings are rejected with a hint`(fields: [String], hint: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/rpc", fields, body: Self.info)
                #expect(response.status == 415)
                #expect(response["content-type"] == "application/json")
                #expect(response.body.utf8.starts(with: #"{"jsonrpc":"2.0","id":null,"error":{"code":3,"#.utf8))
                #expect(response.body.contains(hint))
                // The connection stays open.
                #expect(
                    try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: Self.info).status == 200
                )
            }
        }
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "PATCH", "PROPFIND"])
    func `Other methods get 405 with Allow`(method: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send(method, "/rpc")
                #expect(response.status == 405)
                #expect(response["allow"] == "POST, OPTIONS")
                #expect(response.body.isEmpty == (method == "HEAD"))
                #expect(try await connection.send("OPTIONS", "/rpc")["allow"] == "POST, OPTIONS")
            }
        }
    }

    @Test(
        arguments: [
            (["Content-Type: application/json"], 204), (["Content-Type: application/json-rpc"], 200),
            (["Content-Type: application/json", "Accept: application/json-rpc"], 200),
            (["Content-Type: application/json", "Accept: text/html, application/json-rpc;q=0.5"], 200),
            (["Content-Type: application/json", "Accept: application/json"], 204),
        ]
    )
    func `Notifications get 204, or an empty 200 when the client names JSON-RPC's media type`(
        fields: [String],
        status: Int
    ) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for body in [Self.notification, "[\(Self.notification),\(Self.notification)]"] {
                    let response = try await connection.send("POST", "/rpc", fields, body: body)
                    #expect(response.status == status)
                    #expect(response["content-length"] == (status == 200 ? "0" : nil))
                    #expect(response.body.isEmpty)
                }
            }
        }
    }

    @Test
    func `Notifications get 200 when configured`() async throws {
        try await withServer(.standard.with(\.notificationStatus, .ok)) { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send(
                    "POST",
                    "/rpc",
                    ["Content-Type: application/json"],
                    body: Self.notification
                )
                #expect(response.status == 200)
                #expect(response["content-length"] == "0")
            }
        }
    }

    @Test
    func `The OpenRPC document supports conditional requests`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/openrpc.json")
                #expect(response.status == 200)
                #expect(response["content-type"] == "application/json")
                #expect(response["cache-control"] == "no-cache")
                #expect(response.body.utf8.starts(with: #"{"openrpc":"1.3.2""#.utf8))
                let discovered = try await connection.call(#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#)
                #expect(discovered == #"{"jsonrpc":"2.0","id":1,"result":\#(response.body)}"#)
                let tag = try #require(response["etag"])
                for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                    let again = try await connection.send("GET", "/openrpc.json", ["If-None-Match: \(known)"])
                    #expect(again.status == 304)
                    #expect(again["etag"] == tag)
                }
                #expect(try await connection.send("GET", "/openrpc.json", ["If-None-Match: \"x\""]).status == 200)
                let head = try await connection.send("HEAD", "/openrpc.json")
                #expect(head.status == 200)
                #expect(head["content-length"] == "\(response.body.utf8.count)")
            }
        }
    }

    @Test
    func `A server that rejects writes is not healthy`() async {
        let response = await HealthRoute(ServiceContext(store: ReadOnlyEmptyStore())).respond(includingReason: true)
        #expect(response.status.code == 503)
    }

    @Test
    func `Health and unknown paths have JSON responses`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let health = try await connection.send("GET", "/health")
                #expect(health.status == 200)
                #expect(health.body == #"{"status":"ok"}"#)
                let missing = try await connection.send("GET", "/nothing?x=1")
                #expect(missing.status == 404)
                #expect(
                    missing.body
                        == #"{"error":{"code":5,"message":"No resource at this path.","data":{"status":"NOT_FOUND"}}}"#
                )
                #expect(missing["x-content-type-options"] == "nosniff")
                #expect(try await connection.send("POST", "/health", body: "").status == 405)
            }
        }
    }
}
