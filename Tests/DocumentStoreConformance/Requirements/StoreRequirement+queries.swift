import DocumentModel
import DocumentStore
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

extension StoreRequirement {
    /// Queries, aggregations and sizes.
    static let queries = [
        StoreRequirement("Queries and aggregations with all operators return the same as the reference implementation") { store in
            var random = RandomDocuments(generator: SeededGenerator())
            let documents = random.documents(120)
            for document in documents { _ = try await store.commit([.set(document.path, document.fields)]) }
            let comparison = QueryComparison(store: store, documents: documents)
            try await comparison.compareQueries(250)
            try await comparison.compareAggregations(100)
        },
        StoreRequirement("Queries as of a time return the documents of that time") { store in
            var random = RandomDocuments(generator: SeededGenerator())
            let documents = random.documents(100)
            for document in documents { _ = try await store.commit([.set(document.path, document.fields)]) }
            let time = try await store.lastCommitTime
            _ = try await store.commit(documents.prefix(20).map { .delete($0.path) })
            for document in documents.dropFirst(20).prefix(20) {
                _ = try await store.commit([.set(document.path, random.fields())])
            }
            let comparison = QueryComparison(store: store, documents: documents)
            try await comparison.compareQueries(100, readTime: time)
            try await comparison.compareAggregations(30, readTime: time)
        },
        StoreRequirement("Sums are exact for integers, and are doubles only if there is a double or an overflow") { store in
            let field = try FieldPath("n")
            let aggregations = try NormalizedAggregations([
                Aggregation(.sum(field), alias: "sum"), Aggregation(.average(field), alias: "average"),
            ])
            for (number, (values, sum, average)) in [
                ([.integer(.max), .integer(1), .integer(-101)], .integer(.max - 100), nil),
                ([.integer(.max), .integer(.max)], .double(0x1p64), .double(0x1p63)),
                ([.integer(1), .integer(2), .string("3")], .integer(3), .double(1.5)),
                ([.integer(1), .double(2)], .double(3), .double(1.5)), ([.string("3")], .integer(0), .null),
                ([], .integer(0), .null),
                ([.double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude)], .double(.infinity), .double(.infinity)),
            ].enumerated() as EnumeratedSequence<[([Value], Value, Value?)]> {
                let collection = try CollectionPath("c\(number)")
                for (index, value) in values.enumerated() {
                    _ = try await store.commit([.set(collection.document(DocumentPath.ID("d\(index)")), ["n": value])])
                }
                let query = try NormalizedQuery(StructuredQuery(.collection(collection)), aggregating: [field])
                let results = try await store.aggregate(query, aggregations, readTime: nil).results
                #expect(results["sum" as UTF8Key] == sum, "\(values)")
                if let average { #expect(results["average" as UTF8Key] == average, "\(values)") }
            }
        },
        StoreRequirement("A query sees all changes of a commit or none") { store in
            let paths = try ["a/1", "b/1", "c/x/c/1"].map { try DocumentPath($0) }
            @Sendable func set(_ number: Int64) async throws {
                _ = try await store.commit(paths.map { try .set($0, ["v": .integer(number)]) })
            }
            try await set(0)
            let query = try NormalizedQuery(StructuredQuery(.descendants(of: nil)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for number in 1...50 { try await set(Int64(number)) } }
                group.addTask {
                    for _ in 0..<50 {
                        let results = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                        #expect(results.documents.count == paths.count)
                        #expect(Set(try results.documents.map { try $0.decoded().fields["v"] }).count == 1)
                        #expect(results.documents.allSatisfy { $0.updateTime <= results.readTime })
                    }
                }
                try await group.waitForAll()
            }
        },
        StoreRequirement("Queries compare the first 1,500 bytes of a string") { store in
            let lengths = [10, 1_022, 1_023, 1_024, 1_498, 1_499]
            var texts: [String] = []
            for length in lengths { texts += ["a", "b"].map { String(repeating: "x", count: length) + $0 } }
            for (index, text) in texts.shuffled().enumerated() {
                _ = try await store.commit([.set(DocumentPath("c/\(index)"), ["text": .string(text)])])
            }
            let field = try FieldPath("text")
            for text in texts {
                let query = try NormalizedQuery(
                    StructuredQuery(.collection(CollectionPath("c")), where: .field(field, .equal(.string(text))))
                )
                let found = try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents
                #expect(try found.map { try $0.decoded().fields["text"] } == [.string(text)], "\(text.utf8.count) bytes")
            }
        },
        StoreRequirement("Strings that are equal in their first 1,500 bytes are equal to queries, and are returned whole") {
            store in
            let prefix = String(repeating: "x", count: DocumentLimits.indexedValueBytes)
            for (id, suffix) in ["3": "", "1": "b", "2": "a"] {
                _ = try await store.commit([.set(DocumentPath("c/\(id)"), ["text": .string(prefix + suffix)])])
            }
            let field = try FieldPath("text")
            let collection = StructuredQuery.Source.collection(try CollectionPath("c"))
            for query in [
                StructuredQuery(collection, where: .field(field, .equal(.string(prefix + "c")))),
                StructuredQuery(collection, orders: [.init(.field(field))]),
            ] {
                let found = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil).documents
                #expect(found.map(\.path.string) == ["c/1", "c/2", "c/3"], "\(query)")
                #expect(try found.first?.decoded().fields["text"] == .string(prefix + "b"))
            }
        },
        StoreRequirement("A query includes every acknowledged commit, and states the time of its snapshot") { store in
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            for number in 1...10 {
                try await store.set("c/\(number)", 1)
                let results = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                #expect(results.documents.count == number)
                try await store.set("c/\(number)", 2)
                let again = try await store.run(query, maximumBytes: 1 << 20, readTime: results.readTime)
                #expect(again.documents == results.documents)
            }
        },
        StoreRequirement("A result that is too large is rejected") { store in
            _ = try await store.commit(
                ["c/1", "c/2"].map { try .set(DocumentPath($0), ["text": .string(String(repeating: "x", count: 900))]) }
            )
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            #expect(try await store.run(query, maximumBytes: 10_000, readTime: nil).documents.count == 2)
            await expectError(.resourceExhausted) { _ = try await store.run(query, maximumBytes: 1_000, readTime: nil) }
        },
        StoreRequirement("Sizes are the sums over the documents, after any history of writes") { store in
            var random = RandomDocuments(generator: SeededGenerator())
            var documents: [DocumentPath: MapValue] = [:]
            for _ in 0..<150 {
                let path = random.path()
                if documents[path] != nil, random.generator.chance(40) {
                    documents[path] = nil
                    _ = try await store.commit([.delete(path)])
                } else {
                    let fields = random.fields()
                    documents[path] = fields
                    _ = try await store.commit([.set(path, fields)])
                }
            }
            for collection in [nil] + RandomDocuments.collections {
                let some = documents.filter { path, _ in collection.map { $0 == path.collection } ?? true }
                let bytes = some.reduce(0) { $0 + Document.size(of: $1.value, at: $1.key) }
                #expect(try await store.size(of: collection) == CollectionSize(documentCount: some.count, byteCount: bytes))
            }
        },
    ]
}
