import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Names that are longer than the engine's keys", EngineServer.condition)
struct LongNameTests {
    /// Returns an ID that does not compress.
    private func id(_ generator: inout SeededGenerator, _ byteCount: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<byteCount).map { _ in letters.randomElement(using: &generator) ?? "a" })
    }

    @Test
    func `Documents with long paths are listed and queried in order, and read as of a time`() async throws {
        var generator = SeededGenerator()
        // The names are equal in their first 3,000 bytes.
        let parent = (0..<2).map { _ in id(&generator, 1_500) }.joined(separator: "/")
        var paths: [DocumentPath] = []
        for _ in 0..<8 {
            paths.append(try DocumentPath("\(parent)/c/\(id(&generator, 1_400))"))
            paths.append(try DocumentPath("\(parent)/c/\(id(&generator, 3))"))
        }
        paths.append(try DocumentPath(parent))
        paths.append(try DocumentPath("c/x"))
        let sorted = paths.sorted()
        try await EngineServer.shared.value.withHosts { hosts in
            let store = hosts[0].store
            for path in paths.shuffled(using: &generator) {
                _ = try await store.commit([.set(path, ["v": .string(path.id.description)])])
            }
            let time = try #require(try await store.safePosition().lastCommitTime)
            for path in paths.prefix(6) { _ = try await store.commit([.delete(path)]) }
            let kept = Set(paths.dropFirst(6))
            for (readTime, expected) in [(Timestamp?.none, sorted.filter(kept.contains)), (time, sorted)] {
                for isReversed in [false, true] {
                    let query = StructuredQuery(
                        .descendants(of: nil),
                        orders: [StructuredQuery.Order(.field(.documentName), isReversed ? .descending : .ascending)]
                    )
                    let found = try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: readTime)
                    #expect(found.documents.map(\.path) == (isReversed ? expected.reversed() : expected))
                }
                let collection = try CollectionPath("\(parent)/c")
                let inCollection = expected.filter { $0.collection == collection }
                for limit in [1, 7, 100] {
                    var listed: [DocumentPath] = []
                    var after: DocumentPath.ID?
                    repeat {
                        let page = try await store.documents(
                            in: collection,
                            after: after,
                            limit: limit,
                            includingMissing: limit == 7,
                            readTime: readTime
                        )
                        listed += page.documents.map(\.path)
                        after = page.next
                    } while after != nil
                    #expect(listed == inCollection, "limit \(limit)")
                }
                let under = try await store.collections(under: DocumentPath(parent), after: nil, limit: 5, readTime: readTime)
                #expect(try under.collections == [CollectionID("c")])
                let first = try await store.document(at: paths[0], readTime: readTime)
                #expect((first == nil) == (readTime == nil))
            }
        }
    }
}
