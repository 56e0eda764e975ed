import DocumentModel
import Testing

@Suite("Query sources")
struct QuerySourceTests {
    private static let paths = ["c/1", "c/1/c/2", "c/1/s/3", "c/10/c/4", "cc/1", "d/1/c/5", "d/1/e/1/c/6"]

    @Test
    func `A source contains the documents of a collection, a collection group, or all descendants`() throws {
        let group = try CollectionID("c")
        let first = try DocumentPath("c/1")
        for (source, expected) in [
            (StructuredQuery.Source.collection(try CollectionPath("c")), ["c/1"]),
            (.collection(try CollectionPath("c/1/c")), ["c/1/c/2"]),
            (.collectionGroup(group, below: nil), ["c/1", "c/1/c/2", "c/10/c/4", "d/1/c/5", "d/1/e/1/c/6"]),
            (.collectionGroup(group, below: first), ["c/1/c/2"]),
            (.collectionGroup(group, below: try DocumentPath("d/1")), ["d/1/c/5", "d/1/e/1/c/6"]),
            (.descendants(of: nil), Self.paths),
            (.descendants(of: first), ["c/1/c/2", "c/1/s/3"]),
            (.descendants(of: try DocumentPath("x/1")), []),
        ] {
            #expect(try Self.paths.filter { source.contains(try DocumentPath($0)) } == expected)
        }
    }

    @Test
    func `IDs are compared by bytes`() throws {
        let source = StructuredQuery.Source.collectionGroup(try CollectionID("é"), below: try DocumentPath("a/é"))
        #expect(source.contains(try DocumentPath("a/é/é/1")))
        #expect(!source.contains(try DocumentPath("a/e\u{301}/é/1")))
        #expect(!source.contains(try DocumentPath("a/é/e\u{301}/1")))
    }
}
