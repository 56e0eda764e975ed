import DocumentModel
import DocumentStore
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

extension StoreRequirement {
    /// Reads of documents, current and as of a time.
    static let reads = [
        StoreRequirement("A document is returned as it was written, whatever its values") { store in
            var random = RandomDocuments(generator: SeededGenerator())
            for document in random.documents(60) {
                let time = try await store.commit([.set(document.path, document.fields)]).commitTime
                let found = try #require(try await store.document(at: document.path)).decoded()
                #expect(found.path == document.path)
                // Compared as JSON, which tells integers from doubles, and zeros by their sign.
                #expect(
                    EncodedDocument(found).fieldsJSON == EncodedDocument(document).fieldsJSON,
                    "\(document.path)\n\(QueryComparison.seed)"
                )
                #expect((found.createTime, found.updateTime) == (time, time))
            }
        },
        StoreRequirement("Each of many concurrent reads returns its own document, with what was committed before it") { store in
            _ = try await store.commit((0..<40).map { try .set(DocumentPath("c/\($0)"), ["v": .integer($0)]) })
            try await withThrowingTaskGroup(of: (Int64, Value?).self) { group in
                for number in 0..<300 {
                    let number = Int64(number % 60)
                    group.addTask { (number, try await store.version("c/\(number)")) }
                }
                for version in 0..<20 {
                    try await store.set("d/a", Int64(version))
                    let found = try await store.version("d/a")
                    #expect(found == .integer(Int64(version)))
                }
                for try await (number, version) in group { #expect(version == (number < 40 ? .integer(number) : nil)) }
            }
        },
        StoreRequirement("Paths of the maximum length and depth are stored and listed") { store in
            let long = String(repeating: "é", count: DocumentLimits.maximumNameBytes / 2)
            let deep = Array(repeating: "d/1", count: DocumentLimits.maximumSubcollectionDepth).joined(separator: "/")
            let paths = ["c/\(long)", "\(long)/x", deep]
            _ = try await store.commit(paths.map { try .set(DocumentPath($0), ["v": .integer(1)]) })
            for path in paths { #expect(try await store.version(path) == .integer(1)) }
            #expect(try await store.list("c") == [paths[0]])
            #expect(try await store.listCollections() == ["c", "d", long])
            #expect(try await store.listCollections(under: String(deep.dropLast(4))) == ["d"])
            let query = try NormalizedQuery(StructuredQuery(.collectionGroup(CollectionID("d"), below: nil)))
            let found = try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents
            #expect(found.map(\.path.string) == [deep])
        },
        StoreRequirement("A point-in-time read returns the documents as of the last commit at or before the time") { store in
            let first = try await store.set("c/a", 1).commitTime
            let second = try await store.set("c/a", 2).commitTime
            try await store.delete("c/a")
            #expect(try await store.version("c/a", at: first) == .integer(1))
            #expect(try await store.version("c/a", at: Timestamp(microseconds: second.microseconds - 1)) == .integer(1))
            #expect(try await store.version("c/a", at: second) == .integer(2))
            #expect(try await store.version("c/a", at: store.lastCommitTime) == nil)
            #expect(try await store.version("c/a", at: Timestamp(microseconds: first.microseconds - 1)) == nil)
        },
        StoreRequirement("A read time after the last commit is repeatable: later commits have later times") { store in
            try await store.set("c/a", 1)
            let now = Timestamp.current()
            let time = max(now, try await store.lastCommitTime)
            #expect(try await store.version("c/a", at: time) == .integer(1))
            #expect(try await store.set("c/a", 2).commitTime > time)
            #expect(try await store.version("c/a", at: time) == .integer(1))
        },
        StoreRequirement("A read time in the future is rejected") { store in
            let time = try Timestamp(microseconds: Timestamp.current().microseconds + 3_600_000_000)
            let query = try NormalizedQuery(StructuredQuery(.descendants(of: nil)))
            await expectError(.invalidArgument) { _ = try await store.version("c/a", at: time) }
            await expectError(.invalidArgument) { _ = try await store.list("c", at: time) }
            await expectError(.invalidArgument) { _ = try await store.listCollections(at: time) }
            await expectError(.invalidArgument) { _ = try await store.run(query, maximumBytes: 1_000, readTime: time) }
            #expect(try await store.isInFuture(time))
            #expect(try await !store.isInFuture(store.set("c/a").commitTime))
        },
        StoreRequirement("A read time before the retained history is rejected", history: .short) { store in
            let time = try await store.set("c/a", 0).commitTime
            try await store.exceedHistory()
            await expectError(.failedPrecondition) { _ = try await store.version("c/a", at: time) }
            await expectError(.failedPrecondition) { _ = try await store.list("c", at: time) }
            await expectError(.failedPrecondition) { _ = try await store.listCollections(at: time) }
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            await expectError(.failedPrecondition) { _ = try await store.run(query, maximumBytes: 1_000, readTime: time) }
            #expect(try await store.version("c/a") == .integer(0))
        },
    ]
}

extension DocumentStore {
    /// Commits until neither the first commit nor the one after it is retained, so that the state between them is unknown.
    func exceedHistory() async throws {
        let second = SequenceNumber(2)
        let text = Value.string(String(repeating: "x", count: 1_000))
        for number in 0..<1_000 {
            guard try await safePosition().oldestRetained <= second else { return }
            _ = try await commit([.set(DocumentPath("filler/1"), ["text": text, "v": .integer(Int64(number))])])
        }
        #expect(try await safePosition().oldestRetained > second)
    }
}
