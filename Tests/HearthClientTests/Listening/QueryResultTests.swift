import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import HearthClient

@Suite("The changes between two results")
struct QueryResultTests {
    /// A collection in the order of its names.
    private static var plain: DocumentModel.Query {
        get throws { DocumentModel.Query(.collection(try CollectionPath("c"))) }
    }

    private func result(of query: DocumentModel.Query) throws -> QueryResult {
        QueryResult(of: try NormalizedQuery(query), in: nowhere)
    }

    private func document(_ id: String, _ number: Int64 = 0) throws -> Document {
        let time = try Timestamp(microseconds: number)
        return Document(path: try DocumentPath("c/\(id)"), fields: ["n": .integer(number)], createTime: time, updateTime: time)
    }

    private func changes(_ documents: [String: Int64?]) throws -> WatchedState.Update {
        var changes: [DocumentPath: Document?] = [:]
        for (id, number) in documents {
            changes[try DocumentPath("c/\(id)")] = .some(try number.map { try document(id, $0) })
        }
        return .changes(changes, damaged: [])
    }

    @Test func `come removed, added, modified, with the indices at which to make them`() throws {
        var result = try result(of: Self.plain)
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

    @Test func `move what is modified in the query's order`() throws {
        var query = try Self.plain
        query.orders = [DocumentModel.Query.Order(.field(FieldPath(["n"])), .descending)]
        var result = try result(of: query)
        #expect(result.apply(try changes(["a": 1, "b": 2, "c": 3])).map(\.document.documentID) == ["c", "b", "a"])
        let moved = result.apply(try changes(["a": 9, "c": 0]))
        #expect(moved.map(\.document.documentID) == ["a", "c"])
        #expect(moved.map(\.oldIndex) == [2, 1])
        #expect(moved.map(\.newIndex) == [0, 2])
        #expect(result.documents.map(\.documentID) == ["a", "b", "c"])

        query.limit = .last(2)
        result = try self.result(of: query)
        #expect(result.apply(try changes(["a": 1, "b": 2])).map(\.document.documentID) == ["b", "a"])
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>, [false, true])
    func `make the second of the first when they are replayed`(seed: UInt64, isSorted: Bool) throws {
        var random = SeededGenerator(seed: seed)
        var query = try Self.plain
        if isSorted { query.orders = [DocumentModel.Query.Order(.field(FieldPath(["n"])))] }
        var result = try result(of: query)
        var replayed: [QueryDocumentSnapshot] = []
        for _ in 0..<30 {
            var next: [String: Int64?] = [:]
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                let number = Int64.random(in: 0..<9, using: &random)
                next["\(Int.random(in: 0..<30, using: &random))"] = number < 3 ? .some(nil) : .some(number)
            }
            for change in result.apply(try changes(next)) {
                if change.oldIndex != UInt(NSNotFound) { replayed.remove(at: Int(change.oldIndex)) }
                if change.newIndex != UInt(NSNotFound) { replayed.insert(change.document, at: Int(change.newIndex)) }
            }
            #expect(replayed == result.documents)
            let numbers = replayed.compactMap { $0.get("n") as? Int }
            if isSorted { #expect(numbers == numbers.sorted()) }
        }
    }

    @Test func `leave a document out that lacks what is sorted by, and say so`() throws {
        var query = try Self.plain
        query.orders = [DocumentModel.Query.Order(.field(FieldPath(["other"])))]
        var result = try result(of: query)
        #expect(result.apply(try changes(["a": 1])).isEmpty)
        #expect(result.damaged.map(\.error.path) == ["c/a"])
    }

    @Test func `are none when everything comes again`() throws {
        var result = try result(of: Self.plain)
        let documents = try [document("a"), document("b")]
        let everything = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        #expect(result.apply(.everything(everything, damaged: [])).count == 2)
        #expect(result.apply(.everything(everything, damaged: [])).isEmpty)
        let fewer = everything.filter { $0.key.id.key == "b" }
        #expect(result.apply(.everything(fewer, damaged: [])).map(\.type) == [.removed])
    }
}
