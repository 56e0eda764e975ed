import DocumentModel
import DocumentStore
import StrictJSON
import Synchronization
import Testing
import UTF8Text

extension StoreRequirement {
    /// Commits: order, atomicity, preconditions, transforms.
    static let commits = [
        StoreRequirement("Sequence numbers are dense, and commit times strictly increase") { store in
            var last: CommitResult?
            for number in 1...20 {
                let result = try await store.set("c/\(number % 3)", Int64(number))
                #expect(result.sequence == SequenceNumber(UInt64(number)))
                if let last { #expect(last.commitTime < result.commitTime) }
                #expect(try await store.version("c/\(number % 3)") == .integer(Int64(number)))
                #expect(try await store.document(at: DocumentPath("c/\(number % 3)"))?.updateTime == result.commitTime)
                last = result
            }
        },
        StoreRequirement("Concurrent commits are totally ordered, and none is lost") { store in
            let path = try DocumentPath("c/counter")
            let increment = Write(
                path: path,
                operation: .patch([:], mask: []),
                transforms: [try FieldTransform(field: FieldPath("v"), operation: .increment(.integer(1)))]
            )
            let results = try await withThrowingTaskGroup(of: CommitResult.self) { group in
                for _ in 1...64 { group.addTask { try await store.commit([increment]) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let ordered = results.sorted { $0.commitTime < $1.commitTime }
            #expect(ordered.compactMap(\.sequence?.rawValue) == Array(1...64))
            #expect(Set(ordered.map(\.commitTime)).count == 64)
            #expect(try await store.version("c/counter") == .integer(64))
            #expect(try await store.firstCommits(64, after: .zero).map(\.time) == ordered.map(\.commitTime))
        },
        StoreRequirement("A commit with a write that fails changes nothing") { store in
            try await store.set("c/a")
            let before = try await store.lastSequence
            let error = try await #require(throws: StatusError.self) {
                try await store.commit([
                    .set(DocumentPath("c/a"), ["v": .integer(2)]), .set(DocumentPath("c/b"), [:]),
                    .create(DocumentPath("c/a"), [:]),
                ])
            }
            #expect(error.code == .alreadyExists)
            #expect(error.writeIndex == 2)
            #expect(try await store.version("c/a") == .integer(1))
            #expect(try await store.document(at: DocumentPath("c/b")) == nil)
            #expect(try await store.lastSequence == before)
        },
        StoreRequirement("Preconditions are checked against the current document") { store in
            let time = try await store.set("c/a").commitTime
            try await store.set("c/a", 2)
            let (known, absent) = try (DocumentPath("c/a"), DocumentPath("c/x"))
            let cases: [(Write, StatusCode)] = [
                (.create(known, [:]), .alreadyExists),
                (Write(path: absent, operation: .replace([:]), precondition: .exists(true)), .notFound),
                (.delete(absent, precondition: .exists(true)), .notFound),
                (Write(path: known, operation: .replace([:]), precondition: .updateTime(time)), .failedPrecondition),
                (.delete(known, precondition: .updateTime(time)), .failedPrecondition),
            ]
            for (write, code) in cases { await expectError(code, "\(write)") { _ = try await store.commit([write]) } }
            #expect(try await store.version("c/a") == .integer(2))
            let current = try #require(try await store.document(at: known)).updateTime
            _ = try await store.commit([.delete(known, precondition: .updateTime(current)), .create(known, ["v": .integer(3)])])
            #expect(try await store.version("c/a") == .integer(3))
        },
        StoreRequirement("Writes of a commit apply to the results of the previous ones, and the log has their net change") {
            store in
            let created = try await store.set("c/a")
            let path = try DocumentPath("c/a")
            let result = try await store.commit([
                .set(path, ["v": .integer(2)]),
                Write(
                    path: path,
                    operation: .patch([:], mask: []),
                    transforms: [
                        FieldTransform(field: FieldPath("v"), operation: .increment(.integer(5))),
                        FieldTransform(field: FieldPath("time"), operation: .serverTimestamp),
                    ]
                ),
                .set(DocumentPath("c/b"), [:]), .delete(DocumentPath("c/b")),
            ])
            #expect(result.writeResults.count == 4)
            let milliseconds = try Timestamp(microseconds: result.commitTime.microseconds / 1_000 * 1_000)
            #expect(result.writeResults[1].transformResults == [.integer(7), .timestamp(milliseconds)])
            #expect(result.writeResults[1].updateTime == result.commitTime)
            #expect(result.writeResults[3].updateTime == nil)
            let document = try #require(try await store.document(at: path)).decoded()
            #expect(document.fields == ["time": .timestamp(milliseconds), "v": .integer(7)])
            #expect((document.createTime, document.updateTime) == (created.commitTime, result.commitTime))
            let commit = try #require(try await store.firstCommits(1, after: SequenceNumber(1)).first)
            #expect(commit.changes.map(\.path) == [path])
            #expect(try commit.changes.first?.after?.decoded() == document)
            #expect(commit.changes.first?.existedBefore == true)
        },
        StoreRequirement("A commit that changes nothing is not in the log") { store in
            try await store.set("c/a")
            let last = try await store.lastSequence
            #expect(try await store.set("c/a").sequence == nil)
            #expect(try await store.delete("c/x").sequence == nil)
            #expect(try await store.commit([]).sequence == nil)
            #expect(try await store.lastSequence == last)
        },
        StoreRequirement("A document that is created again has a new create time") { store in
            let first = try await store.set("c/a")
            try await store.delete("c/a")
            #expect(try await store.document(at: DocumentPath("c/a")) == nil)
            let second = try await store.set("c/a")
            #expect(first.commitTime < second.commitTime)
            #expect(try await store.document(at: DocumentPath("c/a"))?.createTime == second.commitTime)
        },
        StoreRequirement("A closed store accepts no commits and ends all commit sequences") { store in
            try await store.set("c/a")
            // An engine under load may not answer in time.
            while await store.writeBlockedReason != nil {}
            async let waiting = store.firstCommits(1, after: SequenceNumber(1))
            #expect(await store.close() == nil)
            #expect(try await waiting.isEmpty)
            await expectError(.unavailable) { try await store.set("c/a", 2) }
            let isNotified = Mutex(false)
            _ = store.notify(after: SequenceNumber(1)) { isNotified.withLock { $0 = true } }
            #expect(isNotified.withLock { $0 })
            #expect(try await store.version("c/a") == .integer(1))
        },
    ]
}
