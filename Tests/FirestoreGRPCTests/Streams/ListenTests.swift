import DocumentModel
import FirestoreProto
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("Listen", .timeLimit(.minutes(10)))
struct ListenTests {
    private static let books = ProtoTarget.query(.query("books"), id: 2)

    @Test
    func `A query target sends its documents, then each commit as one snapshot`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a", ["n": 1]), .set("books/b"), .set("authors/x"))
                var listener = try await connection.listen(to: Self.books)
                #expect(
                    try await listener.snapshot(on: &connection)
                        == ["add 2", "books/a in 2", "books/b in 2", "current 2", "snapshot"]
                )
                try await connection.commit(.set("books/a", ["n": 2]), .delete("books/b"), .set("books/c"), .set("authors/x"))
                let messages = try await listener.snapshotMessages(on: &connection)
                #expect(
                    messages.map(\.summary) == ["books/a in 2", "books/b deleted from 2", "books/c in 2", "snapshot"]
                )
                let document = messages[0].documentChange.document
                #expect(document["n"] == 2)
                #expect(document.hasCreateTime && document.updateTime == messages.last?.targetChange.readTime)
                #expect(messages[1].documentDelete.readTime == document.updateTime)
            }
        }
    }

    @Test
    func `Targets share the messages and snapshots of their stream`() async throws {
        let numbered = ProtoTarget.query(
            .query("books") { $0.where = .field("n", .greaterThan, 1) },
            id: 4
        )
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a", ["n": 1]))
                var listener = try await connection.listen(to: Self.books, numbered, .documents("books/a", "books/b", id: 6))
                _ = try await listener.messages(on: &connection, upTo: "current 6")
                #expect(try await listener.messages(on: &connection, upTo: "snapshot") == ["snapshot"])
                try await connection.commit(.set("books/a", ["n": 2]))
                #expect(try await listener.snapshot(on: &connection) == ["books/a in 2 4 6", "snapshot"])
                try await connection.commit(.set("books/a", ["n": 1]), .set("books/b", ["n": 5]))
                #expect(
                    try await listener.snapshot(on: &connection)
                        == ["books/a in 2 6 not in 4", "books/b in 2 4 6", "snapshot"]
                )
                try await connection.commit(.delete("books/b"))
                #expect(try await listener.snapshot(on: &connection) == ["books/b deleted from 2 4 6", "snapshot"])
                try await listener.send(.removing(4), on: &connection)
                #expect(try await listener.receive(on: &connection) { !$0.isSnapshot }.last?.summary == "remove 4")
                try await connection.commit(.set("books/b", ["n": 5]))
                #expect(try await listener.snapshot(on: &connection) == ["books/b in 2 6", "snapshot"])
            }
        }
    }

    @Test
    func `A limit is refilled in the same snapshot`() async throws {
        let first = ProtoTarget.query(
            .query("books") {
                $0.orderBy = [.make { $0.field = "n" }]
                $0.limit = .init(2)
            },
            id: 2
        )
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/a", ["n": 1]), .set("books/b", ["n": 2]), .set("books/c", ["n": 3]))
                var listener = try await connection.listen(to: first)
                _ = try await listener.snapshot(on: &connection)
                try await connection.commit(.delete("books/a"))
                #expect(try await listener.snapshot(on: &connection) == ["books/a deleted from 2", "books/c in 2", "snapshot"])
                try await connection.commit(.set("books/d", ["n": 0]))
                let messages = try await listener.snapshotMessages(on: &connection)
                #expect(messages.map(\.summary) == ["books/c not in 2", "books/d in 2", "snapshot"])
                // With its content, so that clients need not ask for it.
                #expect(messages[0].documentChange.document["n"] == 3)
            }
        }
    }

    @Test
    func `A document target tells that its document does not exist`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: .documents("books/a", id: 1))
                let missing = try await listener.snapshotMessages(on: &connection)
                #expect(missing.map(\.summary) == ["add 1", "books/a deleted from 1", "current 1", "snapshot"])
                #expect(missing[1].documentDelete.hasReadTime)
                try await connection.commit(.set("books/a"))
                #expect(try await listener.snapshot(on: &connection) == ["books/a in 1", "snapshot"])
                try await connection.commit(.delete("books/a"))
                #expect(try await listener.snapshot(on: &connection) == ["books/a deleted from 1", "snapshot"])
            }
        }
    }

    @Test
    func `The first snapshot of an empty database is later than the time with which clients begin`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                let time = try await listener.snapshotMessages(on: &connection).last?.targetChange.readTime
                #expect(time.map { ($0.seconds, $0.nanos) > (0, 0) } == true)
            }
        }
    }

    @Test
    func `A snapshot has a resume token only when all targets have been sent`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit((0..<300).map { .set("books/\($0)") })
                var listener = try await connection.listen(to: .documents("books/a", id: 4), Self.books)
                let first = try await listener.snapshotMessages(on: &connection)
                let second = try await listener.snapshotMessages(on: &connection)
                // The second target may have been requested after the state of the first was sent.
                let isRequested = first.contains { $0.summary == "add 2" }
                #expect(first.last?.targetChange.resumeToken.isEmpty == isRequested)
                #expect(second.last?.targetChange.resumeToken.isEmpty == false)
            }
        }
    }

    @Test
    func `The listeners of a deleted database end, so that they begin again`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let target = ProtoTarget.make {
                    $0.targetID = 2
                    $0.query.parent = "projects/q/databases/d/documents"
                    $0.query.structuredQuery = .query("books")
                }
                let commit = ProtoCommitRequest.make {
                    $0.database = "projects/q/databases/d"
                    $0.writes = [.make { $0.update.name = "projects/q/databases/d/documents/books/b" }]
                }
                #expect(try await connection.firestore("Commit", commit).isOK)
                var listener = try await connection.listen(to: target, in: "projects/q/databases/d")
                _ = try await listener.snapshot(on: &connection)
                let deletion = #"{"jsonrpc":"2.0","id":1,"method":"databases.delete","params":{"name":"q/d"}}"#
                #expect(try await connection.call(deletion).text.contains("error") == false)
                let end = try await listener.end(on: &connection)
                #expect(end.code == .unavailable, "\(end.code?.name ?? "OK"): \(end.message)")
            }
        }
    }

    @Test
    func `A projection applies to its own target`() async throws {
        let projected = ProtoTarget.query(
            .query("books") { $0.select = .make { $0.fields = ["n"] } },
            id: 4
        )
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books, projected)
                _ = try await listener.messages(on: &connection, upTo: "current 4")
                try await connection.commit(.set("books/a", ["m": 1, "n": 2]))
                let messages = try await listener.snapshotMessages(on: &connection).dropLast()
                #expect(messages.map(\.summary).sorted() == ["books/a in 2", "books/a in 4"])
                for message in messages {
                    let isProjected = message.documentChange.targetIds == [4]
                    #expect((message.documentChange.document["m"] == nil) == isProjected)
                    #expect(message.documentChange.document["n"] == 2)
                }
            }
        }
    }

    @Test
    func `A listener of another database sees its commits only`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let target = ProtoTarget.make {
                    $0.targetID = 2
                    $0.query.parent = "projects/q/databases/d/documents"
                    $0.query.structuredQuery = .query("books")
                }
                var listener = try await connection.listen(to: target, in: "projects/q/databases/d")
                #expect(try await listener.snapshot(on: &connection) == ["add 2", "current 2", "snapshot"])
                try await connection.commit(.set("books/a"))
                let commit = ProtoCommitRequest.make {
                    $0.database = "projects/q/databases/d"
                    $0.writes = [.make { $0.update.name = "projects/q/databases/d/documents/books/b" }]
                }
                #expect(try await connection.firestore("Commit", commit).isOK)
                let change = try await listener.snapshotMessages(on: &connection)[0].documentChange
                #expect(change.document.name == "projects/q/databases/d/documents/books/b")
            }
        }
    }

    @Test
    func `A large state is sent completely`() async throws {
        let text = ProtoValue(stringLiteral: String(repeating: "x", count: 60_000))
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                for index in 0..<40 { try await connection.commit(.set("books/large\(index)", ["text": text])) }
                for start in stride(from: 0, to: 1_000, by: 250) {
                    let request = ProtoCommitRequest.make {
                        $0.database = databaseName
                        $0.writes = (start..<start + 250).map { .set("books/small\($0)") }
                    }
                    #expect(try await connection.firestore("Commit", request).isOK)
                }
                var listener = try await connection.listen(to: Self.books)
                let messages = try await listener.snapshot(on: &connection)
                #expect(messages.count == 1_043)
                #expect(Set(messages).count == 1_043)
            }
        }
    }
}

@Suite("Targets of Listen", .timeLimit(.minutes(10)))
struct ListenTargetTests {
    private static let books = ProtoTarget.query(.query("books"), id: 2)

    @Test
    func `Large documents are all in the initial state, and small ones behind them`() async throws {
        try await withServer { server in
            for (index, count) in [10, 700_000, 700_000, 10, 900_000, 900_000, 900_000, 10, 10].enumerated() {
                try await server.set("books/\(index)", ["text": .string(String(repeating: "x", count: count))])
            }
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                let documents = try await listener.snapshot(on: &connection).filter { $0.hasPrefix("books/") }
                #expect(documents == (0..<9).map { "books/\($0) in 2" })
            }
        }
    }

    @Test
    func `An invalid target fails alone`() async throws {
        let invalid: [ProtoTarget] = [
            .query(.query("books") { $0.where = .field("n", .in, 1) }, id: 4),
            .query(.query("a/b"), id: 5),
            .documents("books", id: 6),
            .make { $0.targetID = 7 },
            .make {
                $0.targetID = 8
                $0.documents.documents = ["projects/other/databases/(default)/documents/books/a"]
            },
            .make {
                $0.targetID = 9
                $0.query.parent = "projects/other/databases/(default)/documents"
                $0.query.structuredQuery = .query("books")
            },
            .query(
                .query("books") {
                    $0.findNearest = .make {
                        $0.vectorField = "v"
                        $0.queryVector = .vector(1, 2)
                        $0.distanceMeasure = .euclidean
                        $0.limit = .init(1)
                    }
                },
                id: 10
            ),
        ]
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                _ = try await listener.snapshot(on: &connection)
                for target in invalid {
                    try await listener.send(.adding(target), on: &connection)
                    let response = try await listener.receive(on: &connection) { !$0.isSnapshot }.last
                    #expect(response?.summary == "remove \(target.targetID) because of 3")
                    #expect(response?.targetChange.cause.message.isEmpty == false)
                }
                try await connection.commit(.set("books/a"))
                #expect(try await listener.snapshot(on: &connection) == ["books/a in 2", "snapshot"])
            }
        }
    }

    @Test
    func `Each request to add or remove a target is acknowledged once`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                try await listener.send(.removing(2), on: &connection)
                try await listener.send(.removing(2), on: &connection)
                try await listener.send(.removing(99), on: &connection)
                try await listener.send(.adding(Self.books), on: &connection)
                try await listener.send(.adding(.documents("books/a", id: 3)), on: &connection)
                let messages = try await listener.messages(on: &connection, upTo: "current 3")
                #expect(messages.filter { $0 == "add 2" }.count == 2)
                #expect(messages.filter { $0.hasPrefix("remove") } == ["remove 2"])
            }
        }
    }

    @Test
    func `The server chooses the ID of a target without one`() async throws {
        let target = ProtoTarget.query(.query("books"), id: 0)
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: .query(.query("books"), id: 1), target)
                _ = try await listener.messages(on: &connection, upTo: "current 2")
            }
        }
    }

    @Test
    func `A target for once is removed when it is current`() async throws {
        let target = ProtoTarget.make {
            $0 = Self.books
            $0.once = true
        }
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: target)
                #expect(
                    try await listener.messages(on: &connection, upTo: "remove 2")
                        == ["add 2", "current 2", "snapshot", "remove 2"]
                )
            }
        }
    }

    @Test
    func `Invalid requests end the stream with a status`() async throws {
        let cases: [(ProtoListenRequest, StatusCode)] = [
            (.make { $0.addTarget = Self.books }, .invalidArgument),
            (.make { $0.database = databaseName }, .invalidArgument),
            (.adding(Self.books, in: "projects/p"), .invalidArgument),
        ]
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                for (request, code) in cases {
                    let listener = try await connection.listen()
                    try await listener.send(request, on: &connection)
                    #expect(try await listener.end(on: &connection).code == code)
                }
                let duplicate = try await connection.listen(to: Self.books, Self.books)
                #expect(try await duplicate.end(on: &connection).code == .invalidArgument)
                let elsewhere = try await connection.listen(to: Self.books)
                try await elsewhere.send(.adding(.documents("books/a", id: 4), in: "projects/q/databases/d"), on: &connection)
                #expect(try await elsewhere.end(on: &connection).code == .invalidArgument)
                let garbage = try await connection.listen(to: Self.books)
                try await connection.send(.init(0, stream: garbage.id, framed([0xFF, 0xFF])))
                #expect(try await garbage.end(on: &connection).code == .invalidArgument)
                let closed = try await connection.listen(to: Self.books)
                try await closed.close(on: &connection)
                #expect(try await closed.end(on: &connection).isOK)
            }
        }
    }

    @Test
    func `A restricted key listens to its collections only, until it is revoked`() async throws {
        try await withServer { server in
            let keys = server.context.keys
            let (key, text) = try await keys.create(.init(role: .reader, collections: [try CollectionPath("books")]))
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(
                    to: .query(.query("secrets"), id: 4),
                    Self.books,
                    .documents("secrets/x", id: 6),
                    headers: [("authorization", "Bearer \(text)")]
                )
                let messages = try await listener.messages(on: &connection, upTo: "remove 6 because of 7")
                #expect(messages.contains("remove 4 because of 7"))
                #expect(messages.contains("add 2"))
                // Nothing of another collection is sent.
                try await server.set("secrets/x", [:])
                try await server.set("books/a", [:])
                #expect(try await listener.messages(on: &connection, upTo: "books/a in 2").allSatisfy { !$0.contains("secrets") })
                try await keys.revoke(key.id)
                #expect(try await listener.end(on: &connection).code == .permissionDenied)
            }
        }
    }

    @Test
    func `On shutdown, listeners end so that they try again`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(to: Self.books)
                _ = try await listener.snapshot(on: &connection)
                await server.stopGracefully()
                #expect(try await listener.end(on: &connection).code == .unavailable)
            }
        }
    }
}
