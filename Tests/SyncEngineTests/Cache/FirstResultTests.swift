import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("First results")
struct FirstResultTests {
    private let cache = FailingCache(failure: FailureSwitch())

    @Test(arguments: [false, true])
    func `Documents are looked up once, and only those with local writes are read again`(hasLocalWrite: Bool) throws {
        var client = TestClient(SyncEngine(cache: cache))
        let listener = try client.listen(to: ViewQuery())
        if hasLocalWrite { try client.write(.set(.inC("b"), ["n": .integer(2)], merge: .all)) }
        _ = cache.calls.take()
        try client.deliver(
            RemoteDocument(.inC("a"), ["n": .integer(1)], at: 100),
            RemoteDocument(.inC("b"), ["n": .integer(1), "m": .integer(1)], at: 100),
            RemoteDocument(.inC("c"), ["n": .integer(1)], at: 100),
            to: listener,
            at: 100
        )
        let counts = cache.calls.take()
        #expect(counts.documents == (hasLocalWrite ? 4 : 3))
        #expect(counts.removedOverlays == (hasLocalWrite ? 1 : 0))
        let b: MapValue = ["n": .integer(hasLocalWrite ? 2 : 1), "m": .integer(1)]
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(1)], b, ["n": .integer(1)]])
    }
}
