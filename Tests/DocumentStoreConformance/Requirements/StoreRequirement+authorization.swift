import DocumentModel
import DocumentStore
import Synchronization
import Testing
import UTF8Text

extension StoreRequirement {
    /// Authorization of commits.
    static let authorization: [StoreRequirement] = [
        StoreRequirement("A commit that is not authorized changes nothing, and has the error of its authorization") { store in
            _ = try await store.set("a/b", 1)
            let before = try await store.safePosition()
            let denial = CommitAuthor(authorization: RecordingAuthorization(StatusError(.permissionDenied, "no")))
            let writes = try [Write.set(DocumentPath("a/b"), ["v": .integer(2)]), .delete(DocumentPath("c/d"))]
            #expect(await store.status(of: writes, by: denial) == .permissionDenied)
            #expect(try await store.safePosition().lastSequence == before.lastSequence)
            #expect(try await store.document(at: DocumentPath("a/b"))?.decoded().fields == ["v": .integer(1)])
        },
        StoreRequirement("An authorization sees each write before and after it, and the documents before the commit") { store in
            _ = try await store.set("a/b", 1)
            _ = try await store.set("r/ole", 7)
            let authorization = RecordingAuthorization(reading: [try DocumentPath("r/ole"), try DocumentPath("a/b")])
            let path = try DocumentPath("a/b")
            let increment = FieldTransform(field: try FieldPath("v"), operation: .increment(.integer(10)))
            let writes = [
                Write(path: path, operation: .patch([:], mask: []), transforms: [increment]),
                Write(path: path, operation: .patch([:], mask: []), transforms: [increment]),
                .delete(path),
                Write(path: path, operation: .verify),
            ]
            let author = CommitAuthor(authorization: authorization)
            let result = try await store.commit(writes, validating: ReadSet(), by: author)
            let seen = authorization.seen
            #expect(seen.before == [["v": .integer(1)], ["v": .integer(11)], ["v": .integer(21)], nil])
            #expect(seen.after == [["v": .integer(11)], ["v": .integer(21)], nil, nil])
            #expect(seen.read == [["v": .integer(7)], ["v": .integer(1)]])
            #expect(seen.time == result.commitTime)
        },
        StoreRequirement("A commit that is not authorized has the same error whether or not its preconditions hold") { store in
            _ = try await store.set("a/b", 1)
            let denial = CommitAuthor(authorization: RecordingAuthorization(StatusError(.permissionDenied, "no")))
            let update = FieldTransform(field: try FieldPath("v"), operation: .increment(.integer(1)))
            let oversized = MapValue([(key: UTF8Key("big"), value: .string(String(repeating: "x", count: 1 << 20)))])
            for id in ["b", "missing"] {
                let path = try DocumentPath("a/\(id)")
                let writes = [
                    Write.create(path, [:]),
                    Write(path: path, operation: .patch([:], mask: []), transforms: [update], precondition: .exists(true)),
                    Write(path: path, operation: .verify, precondition: .exists(true)),
                    Write(path: path, operation: .delete, precondition: .updateTime(.minimum)),
                    Write(path: path, operation: .patch(oversized, mask: [try FieldPath("big")])),
                ]
                for write in writes {
                    #expect(await store.status(of: [write], by: denial) == .permissionDenied)
                }
            }
        },
        StoreRequirement("Concurrent commits are authorized on the state that each of them changes") { store in
            let authorization = RecordingAuthorization(maximum: 20)
            let increment = FieldTransform(field: try FieldPath("v"), operation: .increment(.integer(1)))
            let write = Write(path: try DocumentPath("a/b"), operation: .patch([:], mask: []), transforms: [increment])
            let successCount = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let author = CommitAuthor(authorization: authorization)
                        return (try? await store.commit([write], validating: ReadSet(), by: author)) != nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successCount == 20)
            #expect(try await store.document(at: DocumentPath("a/b"))?.decoded().fields == ["v": .integer(20)])
        },
    ]
}

/// An authorization that records what it sees.
private final class RecordingAuthorization: CommitAuthorization {
    struct Seen {
        var before: [MapValue?] = []
        var after: [MapValue?] = []
        var read: [MapValue?] = []
        var time: Timestamp?
    }

    private let error: StatusError?
    private let paths: [DocumentPath]
    /// The maximum value of the field `v`.
    private let maximum: Int64
    private let state = Mutex(Seen())

    init(_ error: StatusError? = nil, reading paths: [DocumentPath] = [], maximum: Int64 = .max) {
        self.error = error
        self.paths = paths
        self.maximum = maximum
    }

    var seen: Seen { state.withLock { $0 } }

    func authorize(
        _ writes: [ProposedWrite],
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError) {
        var seen = Seen()
        seen.before = writes.map { $0.before?.fields }
        seen.after = writes.map { $0.after?.fields }
        for path in paths { seen.read.append(try read(path)?.fields) }
        seen.time = time
        state.withLock { [seen] in $0 = seen }
        if let error { throw error }
        for case .integer(let value)? in writes.map({ $0.after?.fields["v"] }) where value > maximum {
            throw StatusError(.permissionDenied, "too large")
        }
    }
}

extension DocumentStore {
    /// Returns the code of the error of a commit; `nil` if it succeeds.
    fileprivate func status(of writes: [Write], by author: CommitAuthor) async -> StatusCode? {
        do throws(StatusError) {
            _ = try await commit(writes, validating: ReadSet(), by: author)
            return nil
        } catch {
            return error.code
        }
    }
}
