import DocumentModel
import DocumentStore
import Testing
import UTF8Text

extension StoreRequirement {
    /// Commits with an identity, which are applied once.
    static let identities = [
        StoreRequirement("A commit that is sent again is answered as the first time, and applied once") { store in
            let client = CommitClient()
            let first = try await client.increment(in: store, number: 1)
            #expect(!first.isReplayed)
            try await store.set("c/other")
            for _ in 1...3 {
                let again = try await client.increment(in: store, number: 1)
                #expect(again == first.replayed)
                #expect(again.writeResults.first?.transformResults == [.integer(1)])
            }
            let next = try await client.increment(in: store, number: 2, after: 1)
            #expect(next.writeResults.first?.transformResults == [.integer(2)])
            #expect(try await store.version("c/counter") == .integer(2))
        },
        StoreRequirement("Copies of a commit that arrive together are applied once") { store in
            let client = CommitClient()
            let results = try await withThrowingTaskGroup(of: CommitResult.self) { group in
                for _ in 1...16 { group.addTask { try await client.increment(in: store, number: 1) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.filter { !$0.isReplayed }.count == 1)
            #expect(Set(results.map(\.commitTime)).count == 1)
            #expect(try await store.version("c/counter") == .integer(1))
        },
        StoreRequirement("A commit that changed nothing is remembered, although no watcher is told of it") { store in
            let client = CommitClient()
            try await store.set("c/a", 1)
            let write = try Write.set(DocumentPath("c/a"), ["v": .integer(1)])
            let first = try await client.commit([write], in: store, number: 1)
            #expect(first.sequence == nil)
            // Applied again, it would undo the change.
            try await store.set("c/a", 2)
            #expect(try await client.commit([write], in: store, number: 1) == first.replayed)
            #expect(try await store.version("c/a") == .integer(2))
        },
        StoreRequirement("A commit before which another one is missing is refused, with the number that is expected") { store in
            let client = CommitClient()
            for number in [2, 5] as [UInt64] {
                let error = await client.failure(in: store, number: number)
                #expect(error?.code == .failedPrecondition)
                #expect(error?.identityMismatch == .gap(expected: 1))
            }
            try await client.increment(in: store, number: 1)
            #expect(await client.failure(in: store, number: 3)?.identityMismatch == .gap(expected: 2))
            // The client has the answers to numbers that were refused before they reached the store.
            try await client.increment(in: store, number: 5, after: 4)
            #expect(try await store.version("c/counter") == .integer(2))
        },
        StoreRequirement("A client that is not known any more is told so") { store in
            let client = CommitClient()
            let error = await client.failure(in: store, number: 3, after: 2)
            #expect(error?.code == .outOfRange)
            #expect(error?.identityMismatch == .forgotten(expected: nil))
            #expect(try await store.document(at: DocumentPath("c/counter")) == nil)
            // An answer that the client has is not kept.
            try await client.increment(in: store, number: 1)
            try await client.increment(in: store, number: 2, after: 1)
            #expect(await client.failure(in: store, number: 1)?.identityMismatch == .forgotten(expected: 3))
            #expect(try await store.version("c/counter") == .integer(2))
        },
        StoreRequirement("Other writes under the number of a commit are refused") { store in
            let client = CommitClient()
            try await client.increment(in: store, number: 1)
            let error = await client.failure(in: store, number: 1, fingerprint: 2)
            #expect(error?.code == .invalidArgument)
            #expect(error?.identityMismatch == .reused)
            #expect(try await store.version("c/counter") == .integer(1))
        },
        StoreRequirement("A commit that was refused is refused again, even if it could succeed now") { store in
            let client = CommitClient()
            let create = try Write.create(DocumentPath("c/a"), [:])
            try await store.set("c/a")
            for _ in 1...2 {
                let error = await #expect(throws: StatusError.self) {
                    _ = try await client.commit([create], in: store, number: 1)
                }
                #expect(error?.code == .alreadyExists)
                #expect(error?.writeIndex == 0)
                try await store.delete("c/a")
            }
            _ = try await client.commit([create], in: store, number: 2, after: 1)
        },
        StoreRequirement("A transaction that is committed again after it has ended is answered if it was committed") { store in
            let client = CommitClient()
            let first = try await client.increment(in: store, number: 1)
            #expect(try await client.increment(in: store, number: 1, validating: .ended) == first.replayed)
            let error = await client.failure(in: store, number: 2, after: 1, validating: .ended)
            #expect(error?.code == .aborted)
            // A copy that arrives late is not applied either: the client has begun the transaction anew.
            #expect(await client.failure(in: store, number: 2, after: 1)?.code == .aborted)
            #expect(try await store.version("c/counter") == .integer(1))
        },
        StoreRequirement("Results that are too large are dropped, and the commit is recognized all the same") { store in
            let client = CommitClient()
            let writes = try (1...300).map { try Write.set(DocumentPath("c/\($0)"), ["v": .integer(1)]) }
            let first = try await client.commit(writes, in: store, number: 1)
            #expect(first.writeResults.count == 300)
            let again = try await client.commit(writes, in: store, number: 1)
            #expect(again.isReplayed)
            #expect(again.hasDroppedResults)
            #expect(again.writeResults.isEmpty)
            #expect(again.commitTime == first.commitTime)
            #expect(again.sequence == first.sequence)
        },
    ]
}
