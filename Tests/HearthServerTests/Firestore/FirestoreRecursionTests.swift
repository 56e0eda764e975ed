import DocumentModel
import HearthService
import StrictJSON
import Testing

@testable import HearthServer

/// All that is below a collection.
@Suite("Recursive lists", .timeLimit(.minutes(2)))
struct FirestoreRecursionTests {
    /// Names of collections that are as long as they may be, or nearly.
    private static let collections = [
        "c", String(repeating: "a", count: 1_500), String(repeating: "a", count: 1_499) + ".", String(repeating: "é", count: 750),
        String(repeating: "a", count: 1_499) + "\u{7F}",
    ]

    @Test("have what is in a collection and below it, whatever its name, and nothing else", arguments: collections)
    func names(name: String) async throws {
        try await withServer { server in
            try await server.set("\(name)/d", [:])
            try await server.set("\(name)/d/inner/e", [:])
            for other in ["0", "b", "zz", "\u{10FFFF}"] { try await server.set("\(other)/d", [:]) }
            try await withConnection(to: server) { connection in
                let path = "/" + String(decoding: PercentEncoding.encode(UTF8Key(name)).utf8, as: UTF8.self)
                let response = try await connection.firestore("GET", path + "?recursive=true")
                let documents = try JSONText(response.body).root["documents"]?.elements?.map { $0["name"]?.string }
                #expect(documents == [firestoreName("\(name)/d"), firestoreName("\(name)/d/inner/e")])
                // As official clients ask for it.
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

    @Test("may be asked for with a key for the collection, and no others")
    func keys() async throws {
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
