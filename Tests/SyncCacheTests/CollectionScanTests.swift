import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@testable import SyncCache

@Suite("Scans of many collections")
struct CollectionScanTests {
    @Test(arguments: [1, 3, 7, 100])
    func `Each document of a source is visited once, however many are read at a time`(maximumCount: Int) throws {
        var cache = PersistentCache.inMemory()
        let paths = try (0..<20).flatMap { number in
            try (0...number % 3).map { try DocumentPath("\(number.isMultiple(of: 4) ? "b" : "a")/\(number)/c/\($0)") }
        }
        try cache.save(paths.map { RemoteDocument(path: $0, content: .found(MapValue(), createTime: nil), version: .minimum) })
        for source in [StructuredQuery.Source.descendants(of: nil), .collectionGroup(try CollectionID("c"), below: nil)] {
            var found: [DocumentPath] = []
            var position: ScanPosition?
            repeat {
                let step = try cache.visitDocuments(
                    in: source,
                    after: 0,
                    from: position,
                    maximumCount: maximumCount,
                    selecting: nil
                ) { found.append($0.path) }
                #expect(step.count <= maximumCount)
                position = step.position
            } while position != nil
            #expect(found.count == paths.count && Set(found) == Set(paths))
        }
    }
}
