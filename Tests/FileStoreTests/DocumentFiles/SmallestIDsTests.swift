import DocumentModel
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The smallest IDs")
struct SmallestIDsTests {
    @Test
    func `They are those that a sort finds, in any order and with duplicates`() throws {
        var generator = SeededGenerator()
        for round in 0..<150 {
            let count = Int.random(in: 1...50, using: &generator)
            var ids = try (0..<Int.random(in: 0...800, using: &generator)).map { _ in
                let number = Int.random(in: 0..<600, using: &generator)
                return try DocumentPath.ID(generator.chance(5) ? "__id\(number)__" : "d\(number)")
            }
            if generator.chance(50) { ids.sort() }
            if generator.chance(30) { ids.reverse() }
            let after = generator.chance(50) ? ids.randomElement(using: &generator) : nil
            var smallest = SmallestIDs(after: after, count: count)
            for id in ids where Self.mayInclude(id, in: smallest) { smallest.insert(id) }
            let following = Set(ids).filter { id in after.map { $0 < id } ?? true }
            #expect(smallest.sorted() == Array(following.sorted().prefix(count)), "round \(round), seed \(generator.seed)")
        }
    }

    @Test
    func `An ID that is larger than enough others is not collected`() throws {
        var smallest = SmallestIDs(after: nil, count: 10)
        for number in 10_000..<11_000 { smallest.insert(try DocumentPath.ID("d\(number)")) }
        #expect(smallest.candidates.count == 10)
        #expect(!Self.mayInclude(try DocumentPath.ID("d2"), in: smallest))
        smallest.insert(try DocumentPath.ID("d0"))
        #expect(smallest.sorted().map(\.key.string) == ["d0"] + (10_000..<10_009).map { "d\($0)" })
    }

    /// Returns what the listing of a folder asks before it inserts an ID.
    private static func mayInclude(_ id: DocumentPath.ID, in smallest: SmallestIDs) -> Bool {
        Array(id.key.utf8).withUnsafeBufferPointer { DocumentPath.ID(plain: $0) == nil || smallest.mayInclude(plain: $0) }
    }
}
