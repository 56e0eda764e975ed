import FuzzedInputs
import HearthService
import Hummingbird
import Testing

@testable import HearthServer

/// How calls are carried by HTTP.
@Suite(.timeLimit(.minutes(1))) struct CallTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/missing"]}"#
    private static let notification = #"{"jsonrpc":"2.0","method":"server.info"}"#

    @Test("A call is answered with 200 and exactly these headers")
    func headers() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("POST", "/rpc", ["Content-Type: application/json"], body: Self.info)
                #expect(response.status == 200)
                #expect(response.version == "HTTP/1.1")
                #expect(response["content-type"] == "application/json")
                #expect(response["x-content-type-options"] == "nosniff")
                #expect(response["cache-control"] == "no-store")
                #expect(response["date"] != nil)
                #expect(response["server"] == nil)
                #expect(response["connection"] == nil)
                #expect(
                    response.body == """
                        {"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"There is no document a/missing.",\
                        "data":{"status":"NOT_FOUND","path":"a/missing"}}}
                        """
                )
            }
        }
    }

    @Test(
        "What reached the parser is answered with 200",
        arguments: ["", "{", "[]", "7", #"{"jsonrpc":"2.0","id":1,"method":"x"}"#]
    )
    func errorsAre200(body: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("POST", "/rpc", ["Content-Type: application/json"], body: body)
                #expect(response.status == 200)
                #expect(response.body.utf8.starts(with: #"{"jsonrpc":"2.0","id":"#.utf8))
            }
        }
    }

    @Test(
        "Every usual spelling of the content type is taken",
        arguments: [
            "application/json", "Application/JSON", "application/json-rpc", "application/jsonrequest",
            "application/json; charset=utf-8",
            #"application/json;charset="UTF-8""#, "application/json ;x=y",
        ]
    )
    func contentTypes(type: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("POST", "/rpc", ["Content-Type: \(type)"], body: Self.info)
                #expect(response.status == 200)
            }
        }
    }

    @Test(
        "Other types and encodings are refused, and the answer says what to send",
        arguments: [
            ([], "Content-Type: application/json"), (["Content-Type: text/plain"], "Content-Type: application/json"),
            (["Content-Type: application/x-www-form-urlencoded"], "Content-Type: application/json"),
            (["Content-Type: application/json; charset=latin1"], "Content-Type: application/json"),
            (["Content-Type: application/jsonp"], "Content-Type: application/json"),
            (["Content-Type: application/json", "Content-Encoding: gzip"], "Content-Encoding"),
        ] as [([String], String)]
    )
    func refusedContentTypes(fields: [String], hint: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("POST", "/rpc", fields, body: Self.info)
                #expect(response.status == 415)
                #expect(response["content-type"] == "application/json")
                #expect(response.body.utf8.starts(with: #"{"jsonrpc":"2.0","id":null,"error":{"code":3,"#.utf8))
                #expect(response.body.contains(hint))
                // The connection is still good.
                #expect(
                    try await connection.ask("POST", "/rpc", ["Content-Type: application/json"], body: Self.info).status == 200
                )
            }
        }
    }

    @Test("Other methods are refused with what is allowed", arguments: ["GET", "HEAD", "PUT", "DELETE", "PATCH", "PROPFIND"])
    func methods(method: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask(method, "/rpc")
                #expect(response.status == 405)
                #expect(response["allow"] == "POST, OPTIONS")
                #expect(response.body.isEmpty == (method == "HEAD"))
                #expect(try await connection.ask("OPTIONS", "/rpc")["allow"] == "POST, OPTIONS")
            }
        }
    }

    @Test(
        "Notifications are answered with 204, and with an empty 200 where JSON-RPC's own type is named",
        arguments: [
            (["Content-Type: application/json"], 204), (["Content-Type: application/json-rpc"], 200),
            (["Content-Type: application/json", "Accept: application/json-rpc"], 200),
            (["Content-Type: application/json", "Accept: text/html, application/json-rpc;q=0.5"], 200),
            (["Content-Type: application/json", "Accept: application/json"], 204),
        ]
    )
    func notifications(fields: [String], status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for body in [Self.notification, "[\(Self.notification),\(Self.notification)]"] {
                    let response = try await connection.ask("POST", "/rpc", fields, body: body)
                    #expect(response.status == status)
                    #expect(response["content-length"] == (status == 200 ? "0" : nil))
                    #expect(response.body.isEmpty)
                }
            }
        }
    }

    @Test("Notifications can be answered with 200 for everyone")
    func notificationStatus() async throws {
        try await withServer(.standard.with(\.notificationStatus, .ok)) { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask(
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

    @Test("The description of all methods can be kept until it changes")
    func description() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("GET", "/openrpc.json")
                #expect(response.status == 200)
                #expect(response["content-type"] == "application/json")
                #expect(response["cache-control"] == "no-cache")
                #expect(response.body.utf8.starts(with: #"{"openrpc":"1.3.2""#.utf8))
                let discovered = try await connection.call(#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#)
                #expect(discovered == #"{"jsonrpc":"2.0","id":1,"result":\#(response.body)}"#)
                let tag = try #require(response["etag"])
                for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                    let again = try await connection.ask("GET", "/openrpc.json", ["If-None-Match: \(known)"])
                    #expect(again.status == 304)
                    #expect(again["etag"] == tag)
                }
                #expect(try await connection.ask("GET", "/openrpc.json", ["If-None-Match: \"x\""]).status == 200)
                let head = try await connection.ask("HEAD", "/openrpc.json")
                #expect(head.status == 200)
                #expect(head["content-length"] == "\(response.body.utf8.count)")
            }
        }
    }

    @Test("A server that takes no writes is not healthy")
    func unhealthy() async {
        let response = await HealthRoute(ServiceContext(store: EmptyStore())).respond()
        #expect(response.status.code == 503)
    }

    @Test("Health and unknown paths are answered in JSON")
    func otherPaths() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let health = try await connection.ask("GET", "/health")
                #expect(health.status == 200)
                #expect(health.body == #"{"status":"ok"}"#)
                let missing = try await connection.ask("GET", "/nothing?x=1")
                #expect(missing.status == 404)
                #expect(
                    missing.body
                        == #"{"error":{"code":5,"message":"There is nothing at this path.","data":{"status":"NOT_FOUND"}}}"#
                )
                #expect(missing["x-content-type-options"] == "nosniff")
                #expect(try await connection.ask("POST", "/health", body: "").status == 405)
            }
        }
    }
}
