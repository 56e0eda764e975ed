import DocumentModel
import Foundation
import StrictJSON
import Testing

@testable import HearthClient

@Suite("The changes between two results")
struct QueryResultTests {
    private func document(_ id: String, _ number: Int64 = 0) throws -> Document {
        let time = try Timestamp(microseconds: number)
        return Document(path: try DocumentPath("c/\(id)"), fields: ["n": .integer(number)], createTime: time, updateTime: time)
    }

    private func changes(_ documents: [String: Int64?]) throws -> [DocumentPath: Document?] {
        var changes: [DocumentPath: Document?] = [:]
        for (id, number) in documents {
            changes[try DocumentPath("c/\(id)")] = .some(try number.map { try document(id, $0) })
        }
        return changes
    }

    @Test func `come removed, added, modified, with the indices at which to make them`() throws {
        var result = QueryResult(nowhere)
        let first = result.apply(try changes(["d": 0, "b": 0, "a": 0, "c": 0]))
        #expect(first.map(\.type) == [.added, .added, .added, .added])
        #expect(first.map(\.newIndex) == [0, 1, 2, 3])
        #expect(first.allSatisfy { $0.oldIndex == UInt(NSNotFound) })
        #expect(result.documents.map(\.documentID) == ["a", "b", "c", "d"])

        let second = result.apply(try changes(["a": nil, "c": nil, "b": 1, "bb": 1, "x": nil, "d": 0]))
        #expect(second.map(\.type) == [.removed, .removed, .added, .modified])
        #expect(second.map(\.document.documentID) == ["a", "c", "bb", "b"])
        #expect(second.map(\.oldIndex) == [0, 1, UInt(NSNotFound), 0])
        #expect(second.map(\.newIndex) == [UInt(NSNotFound), UInt(NSNotFound), 1, 0])
        #expect(result.documents.map(\.documentID) == ["b", "bb", "d"])
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `make the second of the first when they are replayed`(
        seed: UInt64
    ) throws {
        var state = seed
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var result = QueryResult(nowhere)
        var replayed: [QueryDocumentSnapshot] = []
        for round in 0..<30 {
            var next: [String: Int64?] = [:]
            for _ in 0..<random(12) { next["\(random(30))"] = random(3) == 0 ? .some(nil) : .some(Int64(round)) }
            for change in result.apply(try changes(next)) {
                if change.oldIndex != UInt(NSNotFound) { replayed.remove(at: Int(change.oldIndex)) }
                if change.newIndex != UInt(NSNotFound) { replayed.insert(change.document, at: Int(change.newIndex)) }
            }
            #expect(replayed == result.documents)
        }
    }

    @Test func `are none when everything comes again`() throws {
        var result = QueryResult(nowhere)
        let documents = try [document("a"), document("b")]
        let everything = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        #expect(result.apply(.everything(everything, damaged: [])).count == 2)
        #expect(result.apply(.everything(everything, damaged: [])).isEmpty)
        let fewer = everything.filter { $0.key.id.key == "b" }
        #expect(result.apply(.everything(fewer, damaged: [])).map(\.type) == [.removed])
    }
}
