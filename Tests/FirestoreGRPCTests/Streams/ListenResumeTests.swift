import DocumentModel
import FirestoreAPI
import FirestoreProto
import Foundation
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import TestSupport
import Testing

@Suite("Resumed targets of Listen", .timeLimit(.minutes(10)))
struct ListenResumeTests {
    private static let books = ProtoTarget.query(.query("books"), id: 2)

    @Test
    func `A resumed target gets the net changes since its token`() async throws {
        let numbered = ProtoTarget.query(.query("books") { $0.where = .field("n", .equal, 1) }, id: 2)
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a", ["n": 1]), .set("books/b", ["n": 1]), .set("books/c", ["n": 1]))
                var listener = try await connection.listen(to: numbered)
                let token = try await listener.snapshotMessages(on: &connection).last
                var unchanged = try await connection.listen(to: numbered.resumed(after: token))
                #expect(try await unchanged.snapshot(on: &connection) == ["add 2", "current 2", "snapshot"])
                try await connection.commit(.set("books/a", ["n": 2]))
                try await connection.commit(.delete("books/b"), .set("books/d", ["n": 1]), .set("books/e", ["n": 1]))
                try await connection.commit(.set("books/d", ["n": 1, "m": 1]), .delete("books/e"), .set("books/f", ["n": 2]))
                var resumed = try await connection.listen(to: numbered.resumed(after: token))
                let messages = try await resumed.snapshotMessages(on: &connection)
                #expect(
                    messages.map(\.summary).sorted()
                        == [
                            "add 2", "books/a not in 2", "books/b deleted from 2", "books/d in 2", "current 2", "snapshot",
                        ]
                )
                #expect(messages.first { $0.summary == "books/d in 2" }?.documentChange.document["m"] == 1)
            }
        }
    }

    @Test
    func `Documents and limited queries are resumed`() async throws {
        let first = ProtoTarget.query(
            .query("books") {
                $0.orderBy = [.make { $0.field = "n" }]
                $0.limit = .init(1)
            },
            id: 4
        )
        let documents = ProtoTarget.documents("books/a", "books/z", id: 6)
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a", ["n": 1]), .set("books/b", ["n": 2]))
                var listener = try await connection.listen(to: first, documents)
                _ = try await listener.messages(on: &connection, upTo: "current 6")
                let token = try await listener.receive(on: &connection, until: \.isSnapshot).last
                try await connection.commit(.set("books/a", ["n": 3]), .set("books/z", ["n": 4]))
                var resumed = try await connection.listen(to: first.resumed(after: token), documents.resumed(after: token))
                #expect(
                    try await resumed.messages(on: &connection, upTo: "current 6").filter { $0.contains("books") }.sorted()
                        == ["books/a in 6", "books/a not in 4", "books/b in 4", "books/z in 6"]
                )
            }
        }
    }

    @Test
    func `A token that cannot be resumed from resets its target`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a"))
                var listener = try await connection.listen(to: Self.books)
                let token = try await listener.snapshotMessages(on: &connection).last?.targetChange.resumeToken ?? Data()
                var future = Array(token)
                future[9] = 1
                for token in [[1, 2, 3], [UInt8](repeating: 0, count: 33), future] {
                    let target = ProtoTarget.make {
                        $0 = Self.books
                        $0.resumeToken = Data(token)
                    }
                    var resumed = try await connection.listen(to: target)
                    #expect(
                        try await resumed.snapshot(on: &connection)
                            == ["add 2", "reset 2", "books/a in 2", "current 2", "snapshot"]
                    )
                }
                // The tokens of a database mean nothing in others.
                let elsewhere = ProtoTarget.make {
                    $0.targetID = 2
                    $0.query.parent = "projects/q/databases/d/documents"
                    $0.query.structuredQuery = .query("books")
                    $0.resumeToken = token
                }
                var other = try await connection.listen(to: elsewhere, in: "projects/q/databases/d")
                #expect(try await other.snapshot(on: &connection) == ["add 2", "reset 2", "current 2", "snapshot"])
            }
        }
    }

    @Test
    func `A target is resumed from a time`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                _ = try await listener.snapshot(on: &connection)
                var times: [Google_Protobuf_Timestamp] = []
                for id in ["a", "b", "c"] {
                    try await connection.commit(.set("books/\(id)"))
                    times += try await listener.snapshotMessages(on: &connection).suffix(1).map(\.targetChange.readTime)
                }
                for (index, time) in times.enumerated() {
                    let target = ProtoTarget.make {
                        $0 = Self.books
                        $0.readTime = time
                    }
                    var resumed = try await connection.listen(to: target)
                    let changes = ["books/b in 2", "books/c in 2"].dropFirst(index)
                    #expect(try await resumed.snapshot(on: &connection) == ["add 2"] + changes + ["current 2", "snapshot"])
                }
            }
        }
    }

    @Test
    func `A client with another number of documents gets the names of all`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a"), .set("books/b"), .set("books/c"))
                var listener = try await connection.listen(to: Self.books)
                let token = try await listener.snapshotMessages(on: &connection).last
                try await connection.commit(.delete("books/a"), .set("books/d"), .set("books/e"))
                var same = try await connection.listen(to: Self.books.resumed(after: token, count: 3))
                #expect(try await !same.snapshot(on: &connection).contains { $0.hasPrefix("filter") })
                var different = try await connection.listen(to: Self.books.resumed(after: token, count: 5))
                let messages = try await different.snapshotMessages(on: &connection)
                #expect(messages.suffix(3).map(\.summary) == ["filter 2 count 4", "current 2", "snapshot"])
                let names = messages.dropLast(2).last?.filter.unchangedNames
                let filter = BloomFilter(["b", "c", "d", "e"].map { resourceName("books/\($0)") })
                #expect(names?.bits.bitmap == Data(filter.bitmap))
                #expect(names.map { Int($0.bits.padding) } == filter.padding)
                #expect(names.map { Int($0.hashCount) } == filter.hashCount)
            }
        }
    }

    @Test(arguments: 0..<4)
    func `Whatever is committed, listened to and resumed, a client has the results of its queries`(seed: UInt64) async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var generator = SeededGenerator(seed: seed)
                var client = ModelClient()
                for _ in 0..<100 {
                    switch Int.random(in: 0..<10, using: &generator) {
                    case 0..<6:
                        let writes = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                            ModelClient.randomWrite(using: &generator)
                        }
                        try await connection.commit(writes)
                    case 6: try await client.addTarget(using: &generator, on: &connection)
                    case 7: try await client.removeTarget(using: &generator, on: &connection)
                    case 8: try await client.disconnect(using: &generator, on: &connection)
                    default: try await client.verify(on: &connection)
                    }
                }
                try await client.verify(on: &connection)
            }
        }
    }
}
