import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing

@Suite("Quotas of databases", .timeLimit(.minutes(10)))
struct QuotaMethodTests {
    @Test
    func `An admin limits a database, others are told why a commit is refused, and what to do`() async throws {
        try await withServer { server in
            let (admin, writer) = (try await server.makeKey(.admin), try await server.makeKey(.writer))
            try await withConnection(to: server) { connection in
                func call(_ key: String, _ method: String, _ params: String) async throws -> String {
                    let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)}}"#
                    let fields = ["Authorization: Bearer \(key)", "Content-Type: application/json"]
                    return try await connection.send("POST", "/rpc", fields, body: body).body
                }
                let set = { (name: String) in #""path":"c/\#(name)","fields":{},"database":"limited""# }
                var body = try await call(writer, "databases.setQuota", #""documentCount":1"#)
                #expect(body.contains("PERMISSION_DENIED"))
                for invalid in [#""documentCount":-1"#, #""bytes":1.5"#, #""bytes":"1""#] {
                    body = try await call(admin, "databases.setQuota", invalid)
                    #expect(body.contains(#""code":-32602"#), "\(body)")
                }
                body = try await call(admin, "databases.setQuota", #""documentCount":1,"bytes":1000000,"database":"limited""#)
                #expect(body.contains(#""result":{"documentCount":1,"bytes":1000000}"#), "\(body)")
                body = try await call(writer, "databases.getQuota", #""database":"limited""#)
                #expect(body.contains(#""result":{"documentCount":1,"bytes":1000000}"#))
                body = try await call(writer, "databases.getQuota", "")
                #expect(body.contains(#""result":{}"#))
                // The index knows the size of a new database after a moment.
                _ = try await call(writer, "query.run", #""collection":"c","database":"limited""#)
                body = try await call(writer, "documents.set", set("a"))
                #expect(body.contains("result"))
                body = try await call(writer, "documents.set", set("b"))
                #expect(
                    body.contains(
                        #""code":8,"message":"The quota of the database is exhausted: it holds 1 of at most 1 documents"#
                    )
                )
                #expect(body.contains("databases.setQuota"))
                body = try await call(writer, "documents.set", #""path":"c/b","fields":{}"#)
                #expect(body.contains("result"))
                let metrics = try await connection.send("GET", "/metrics", ["Authorization: Bearer \(admin)"]).body
                #expect(metrics.contains("\nhearth_quota_refusals_total 1\n"))
            }
        }
    }
}
