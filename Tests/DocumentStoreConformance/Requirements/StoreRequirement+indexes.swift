import DocumentModel
import DocumentStore
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing

extension StoreRequirement {
    /// Definitions of indexes.
    static let indexes = [
        StoreRequirement("Index definitions are added once, listed, and removed") { store in
            let (collection, field) = (try CollectionID("c"), try FieldPath("a"))
            let definition = try IndexDefinition(
                collection: collection,
                fields: [.init(field), .init(FieldPath("b"), .descending)]
            )
            let created = try await store.changeIndexes(.create(definition))
            #expect(created.indexes.map(\.definition) == [definition])
            await expectError(.alreadyExists) { _ = try await store.changeIndexes(.create(definition)) }
            let id = try #require(await store.indexes().indexes.first?.id)
            #expect(try await store.changeIndexes(.delete(id: id)).indexes.isEmpty)
            await expectError(.notFound) { _ = try await store.changeIndexes(.delete(id: id)) }
            let exemption = try IndexExemption(collection: collection, field: field)
            #expect(try await store.changeIndexes(.exempt(exemption)).exemptions == [exemption])
            await expectError(.alreadyExists) { _ = try await store.changeIndexes(.exempt(exemption)) }
            #expect(try await store.changeIndexes(.unexempt(exemption)).exemptions.isEmpty)
            await expectError(.notFound) { _ = try await store.changeIndexes(.unexempt(exemption)) }
        },
        StoreRequirement("Queries return the same with composite indexes and exemptions, even while they are built") { store in
            var random = RandomDocuments(generator: SeededGenerator())
            let documents = random.documents(80)
            for document in documents { _ = try await store.commit([.set(document.path, document.fields)]) }
            let comparison = QueryComparison(store: store, documents: documents)
            let fields = RandomDocuments.fields
            for collection in Set(RandomDocuments.collections.map(\.id)) {
                for (first, second) in [(0, 1), (2, 6), (1, 3)] {
                    let definition = try IndexDefinition(
                        collection: collection,
                        fields: [.init(fields[first], .descending), .init(fields[second])]
                    )
                    _ = try await store.changeIndexes(.create(definition))
                }
            }
            try await comparison.compareQueries(60)
            try await store.waitForIndexes()
            try await comparison.compareQueries(100)
            _ = try await store.changeIndexes(.exempt(IndexExemption(collection: CollectionID("c"), field: fields[0])))
            try await comparison.compareQueries(60, mayReject: true)
        },
    ]
}

extension DocumentStore {
    /// Waits until no index is being built, and expects all of them to be ready.
    fileprivate func waitForIndexes() async throws {
        for _ in 0..<6_000 {
            let report = await indexes()
            let states = [report.singleFields] + report.indexes.map(\.buildState)
            guard states.contains(where: \.isBuilding) || !report.backfills.isEmpty else {
                #expect(states.allSatisfy { $0 == .ready })
                return
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the indexes are not built within a minute")
    }
}

extension IndexReport.BuildState {
    fileprivate var isBuilding: Bool {
        if case .building = self { true } else { false }
    }
}
