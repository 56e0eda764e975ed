import DocumentModel
import HearthClient
import StrictJSON
import Testing
import UTF8Text

@Suite("HearthConnection", .timeLimit(.minutes(10)))
struct HearthConnectionEndToEndTests {
    private static let path = (try? DocumentPath("books/a"))!  // A valid literal.

    @Test func `Commits writes of every kind`() async throws {
        try await withServer { server in
            let connection = server.connection
            let created = try await connection.create(in: Self.path.collection, id: Self.path.id, ["a": .integer(1)])
            #expect(try created.decoded().fields == ["a": .integer(1)])

            try await connection.set(Self.path, ["b": .map(["c": .integer(2), "d.e": .null])], merge: .all)
            try await connection.update(Self.path, [(FieldPath("b.c"), .double(3))], delete: [FieldPath("a")])
            #expect(try await fields(connection) == ["b": .map(["c": .double(3), "d.e": .null])])

            let increment = FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(5)))
            let union = FieldTransform(field: try FieldPath("list"), operation: .arrayUnion([.string("x"), .string("x")]))
            let results = try await connection.commit([
                .set(Self.path, ["n": .integer(1), "kept": .boolean(true)], transforms: [increment, union]),
                .set(Self.path, ["list": .null, "n": .integer(7)], merge: .fields([FieldPath("n")])),
                .delete(DocumentPath("books/b")),
            ])
            #expect(results.map(\.transformResults) == [[.integer(6), .null], [], []])
            #expect(results.map { $0.updateTime == nil } == [false, false, true])
            #expect(
                try await fields(connection) == ["kept": .boolean(true), "list": .array([.string("x")]), "n": .integer(7)]
            )

            _ = try await connection.commit([.set(Self.path, ["n": .integer(8)], merge: .all, delete: [FieldPath("list")])])
            #expect(try await fields(connection) == ["kept": .boolean(true), "n": .integer(8)])

            let kept = try await connection.set(Self.path, ["n": .integer(9)])
            try await connection.delete(Self.path)
            try await connection.set(Self.path, ["n": .integer(10)])
            try await connection.restore(Self.path, from: kept.updateTime)
            #expect(try await fields(connection) == ["n": .integer(9)])
            try await connection.delete(Self.path)
            try await connection.restore(Self.path)
            #expect(try await fields(connection) == ["n": .integer(9)])
        }
    }

    @Test func `Reports why a write is rejected, and rejects the whole commit`() async throws {
        try await withServer { server in
            let connection = server.connection
            let missing = try DocumentPath("books/missing")
            let commit = await #expect(throws: StatusError.self) {
                try await connection.commit([.set(Self.path, [:]), .update(missing, [(FieldPath("a"), .null)])])
            }
            #expect(commit?.code == .notFound)
            #expect(commit?.path == "books/missing")
            #expect(commit?.writeIndex == 1)
            let get = await #expect(throws: StatusError.self) { try await connection.document(at: Self.path) }
            #expect(get?.code == .notFound)

            let first = try await connection.set(Self.path, ["a": .integer(1)])
            let create = await #expect(throws: StatusError.self) {
                try await connection.create(in: Self.path.collection, id: Self.path.id, [:])
            }
            #expect(create?.code == .alreadyExists)
            try await connection.set(Self.path, ["a": .integer(2)])
            let stale = Precondition.updateTime(try #require(first.updateTime))
            let write = await #expect(throws: StatusError.self) {
                try await connection.write(.delete(Self.path, precondition: stale))
            }
            #expect(write?.code == .failedPrecondition)
            #expect(try await fields(connection) == ["a": .integer(2)])
        }
    }

    @Test func `Reports why a call is rejected`() async throws {
        try await withServer { server in
            let unknown = await #expect(throws: StatusError.self) { try await server.connection.call("documents.gte") { _ in } }
            #expect(unknown?.code == .unimplemented)
            let path = await #expect(throws: StatusError.self) {
                try await server.connection.call("documents.get") { params in
                    params.key("path")
                    params.string("books")
                }
            }
            #expect(path?.code == .invalidArgument)
            let nested = await #expect(throws: StatusError.self) {
                try await server.connection.set(Self.path, ["tags": .array([.map(["x": .array([.array([])])])])])
            }
            #expect(nested?.code == .invalidArgument)
            #expect(nested?.field == "tags[0].x[0]")
        }
    }

    @Test func `Calls work with more open streams than call connections`() async throws {
        try await withServer { server in
            let connection = server.connection
            try await withThrowingTaskGroup(of: WatchFrame.Kind?.self) { group in
                let (currents, current) = AsyncStream.makeStream(of: Void.self)
                for _ in 0..<12 {
                    group.addTask {
                        for try await frame in try await connection.watch(.document(Self.path)) {
                            if frame.kind == .current { current.yield() }
                            if frame.kind == .added { return frame.kind }
                        }
                        return nil
                    }
                }
                var count = 0
                for await _ in currents {
                    count += 1
                    if count == 12 { break }
                }
                try await connection.set(Self.path, ["a": .integer(1)])
                #expect(try await group.reduce(into: []) { $0.append($1) } == Array(repeating: .added, count: 12))
            }
        }
    }

    @Test func `Returns server information`() async throws {
        try await withServer { server in
            let before = try await server.connection.serverInformation()
            #expect(before.name == "Hearth")
            #expect(before.sequence == 0)
            #expect(before.commitTime == nil)
            let write = try await server.connection.set(Self.path, [:])
            let after = try await server.connection.serverInformation()
            #expect(after.epoch == before.epoch)
            #expect(after.sequence == 1)
            #expect(after.commitTime == write.updateTime)
            #expect(after.limits.documentBytes == 1 << 20)
        }
    }

    private func fields(_ connection: HearthConnection) async throws -> MapValue {
        try await connection.document(at: Self.path).decoded().fields
    }
}
