import DocumentModel
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@Suite("Recursive lists of the Firestore REST API", .timeLimit(.minutes(10)))
struct FirestoreRecursiveListTests {
    /// Collection IDs, most of the maximum length.
    private static let collections = [
        "c", String(repeating: "a", count: 1_500), String(repeating: "a", count: 1_499) + ".", String(repeating: "é", count: 750),
        String(repeating: "a", count: 1_499) + "\u{7F}",
    ]

    @Test(arguments: collections)
    func `A recursive list returns exactly the descendants of a collection`(name: String) async throws {
        try await withServer { server in
            try await server.set("\(name)/d", [:])
            try await server.set("\(name)/d/inner/e", [:])
            for other in ["0", "b", "zz", "\u{10FFFF}"] { try await server.set("\(other)/d", [:]) }
            try await withConnection(to: server) { connection in
                let path = "/" + String(decoding: PercentEncoding.encode(UTF8Key(name)).utf8, as: UTF8.self)
                let response = try await connection.firestore("GET", path + "?recursive=true")
                let documents = try JSONText(response.body).root["documents"]?.elements?.map { $0["name"]?.string }
                #expect(documents == [firestoreName("\(name)/d"), firestoreName("\(name)/d/inner/e")])
                // The query that official clients send.
                let query = #"""
                    {"structuredQuery":{"from":[{"allDescendants":true}],"where":{"compositeFilter":{"op":"AND","filters":[
                    {"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"GREATER_THAN_OR_EQUAL",
                    "value":{"referenceValue":"\#(firestoreName("\(name)/__id-9223372036854775808__"))"}}},
                    {"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"LESS_THAN",
                    "value":{"referenceValue":"\#(firestoreName("\(name)\\u0000/__id-9223372036854775808__"))"}}}
                    ]}}}}
                    """#
                let found = try await connection.firestore("POST", ":runQuery", query)
                #expect(try JSONText(found.body).root.elements?.compactMap { $0["document"] }.count == 2)
            }
        }
    }

    @Test
    func `A key restricted to a collection can list only its descendants`() async throws {
        try await withServer { server in
            for path in ["c/d", "c/d/inner/e", "cc/d", "b/d", "b/d/c/e"] { try await server.set(path, [:]) }
            let key = ["Authorization: Bearer \(try await server.makeKey(.reader, collections: ["c"]))"]
            try await withConnection(to: server) { connection in
                for (path, count) in [("/c", 2), ("/c/d/inner", 1)] {
                    let response = try await connection.firestore("GET", path + "?recursive=true", fields: key)
                    #expect(try JSONText(response.body).root["documents"]?.count == count)
                }
                func query(_ from: String, _ to: String) -> String {
                    #"""
                    {"structuredQuery":{"from":[{"allDescendants":true}],"where":{"compositeFilter":{"op":"AND","filters":[
                    {"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"GREATER_THAN_OR_EQUAL","value":{"referenceValue":"\#(firestoreName(from))"}}},
                    {"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"LESS_THAN","value":{"referenceValue":"\#(firestoreName(to))"}}}]}}}}
                    """#
                }
                for (from, to, isAllowed) in [
                    ("c/__id-9223372036854775808__", #"c\u0000/__id-9223372036854775808__"#, true), ("c/d", "c/e", true),
                    ("c/d", "cc/d", false), ("b/d", "c/d", false), ("b/d", "b/e", false), ("c/d", #"c\u0000/a"#, false),
                ] {
                    let response = try await connection.firestore("POST", ":runQuery", query(from, to), fields: key)
                    #expect((response.status == 200) == isAllowed, "\(from) \(to)")
                }
                #expect(
                    try await connection.firestore("GET", "/b?recursive=true", fields: key).firestoreStatus == "PERMISSION_DENIED"
                )
                #expect(
                    try await connection.firestore("GET", "/cc?recursive=true", fields: key).firestoreStatus
                        == "PERMISSION_DENIED"
                )
            }
        }
    }
}
