import DocumentModel
import DocumentStore
import StrictJSON
import Testing
import UTF8Text

extension StoreRequirement {
    /// The validation of read sets.
    static let validation = [
        StoreRequirement("A commit is aborted when a document that it read has changed") { store in
            try await store.set("c/a")
            for path in ["c/a", "c/new"] {
                var reads = ReadSet()
                reads.recordRead(try await store.document(at: DocumentPath(path)), at: try DocumentPath(path))
                _ = try await store.commit([.set(DocumentPath("c/other"), ["from": .string(path)])], validating: reads)
                try await store.set(path, 2)
                let write = try Write.set(DocumentPath("c/result"), [:])
                await expectError(.aborted) { _ = try await store.commit([write], validating: reads) }
                // Without writes, the reads are validated nevertheless.
                await expectError(.aborted) { _ = try await store.commit([], validating: reads) }
            }
            #expect(try await store.document(at: DocumentPath("c/result")) == nil)
        },
        StoreRequirement("A commit is aborted when a document appears in what it listed or queried") { store in
            try await store.set("c/a")
            let collection = try CollectionPath("c")
            let group = try CollectionID("c")
            let last = try await store.lastSequence
            var sets: [ReadSet] = []
            for source: StructuredQuery.Source? in [
                nil, .collection(collection), .collectionGroup(group, below: nil), .descendants(of: nil),
            ] {
                var reads = ReadSet()
                if let source {
                    reads.recordQuery(of: source, after: last)
                } else {
                    reads.recordListing(of: collection, after: last)
                }
                _ = try await store.commit([], validating: reads)
                sets.append(reads)
            }
            try await store.set("d/elsewhere")
            for reads in sets.prefix(3) { _ = try await store.commit([], validating: reads) }
            try await store.set("c/phantom")
            for reads in sets { await expectError(.aborted) { _ = try await store.commit([], validating: reads) } }
        },
        StoreRequirement("A commit is aborted when a document of what it listed or queried is deleted") { store in
            try await store.set("c/a")
            let last = try await store.lastSequence
            var reads = ReadSet()
            reads.recordQuery(of: .collection(try CollectionPath("c")), after: last)
            try await store.delete("c/a")
            await expectError(.aborted) { _ = try await store.commit([], validating: reads) }
        },
        StoreRequirement("Concurrent read-modify-write transactions lose no update") { store in
            let path = try DocumentPath("c/counter")
            try await store.set("c/counter", 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<5 { try await store.incrementByTransaction(path) } }
                }
                try await group.waitForAll()
            }
            #expect(try await store.version("c/counter") == .integer(40))
        },
    ]
}

extension DocumentStore {
    /// Reads a counter and writes its successor, repeatedly until the document has not changed in between.
    fileprivate func incrementByTransaction(_ path: DocumentPath) async throws {
        while true {
            let document = try await document(at: path)
            var reads = ReadSet()
            reads.recordRead(document, at: path)
            guard case .integer(let count)? = try document?.decoded().fields["v"] else {
                throw StatusError(.notFound, "no counter")
            }
            do throws(StatusError) {
                _ = try await commit([.set(path, ["v": .integer(count + 1)])], validating: reads)
                return
            } catch {
                guard error.code == .aborted else { throw error }
            }
        }
    }
}
