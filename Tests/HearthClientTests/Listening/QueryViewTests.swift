import DocumentModel
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Query view")
struct QueryViewTests {
    /// A query for all documents of a collection.
    private static var plain: StructuredQuery {
        get throws { StructuredQuery(.collection(try CollectionPath("c"))) }
    }

    private func view(of query: StructuredQuery) throws -> QueryView {
        QueryView(of: try NormalizedQuery(query), in: offlineDatabase)
    }

    private func document(_ id: String, _ number: Int64 = 0) throws -> Document {
        let time = try Timestamp(microseconds: number)
        return Document(path: try DocumentPath("c/\(id)"), fields: ["n": .integer(number)], createTime: time, updateTime: time)
    }

    private func changes(_ documents: [String: Int64?]) throws -> WatchChangeAggregator.Update {
        var changes: [DocumentPath: Document?] = [:]
        for (id, number) in documents {
            changes[try DocumentPath("c/\(id)")] = .some(try number.map { try document(id, $0) })
        }
        return .changes(changes, damaged: [])
    }

    @Test func `Changes are ordered removed, added, modified, with consecutive indexes`() throws {
        var view = try view(of: Self.plain)
        let first = view.apply(try changes(["d": 0, "b": 0, "a": 0, "c": 0]))
        #expect(first.map(\.type) == [.added, .added, .added, .added])
        #expect(first.map(\.newIndex) == [0, 1, 2, 3])
        #expect(first.allSatisfy { $0.oldIndex == UInt(NSNotFound) })
        #expect(view.documents.map(\.documentID) == ["a", "b", "c", "d"])

        let second = view.apply(try changes(["a": nil, "c": nil, "b": 1, "bb": 1, "x": nil, "d": 0]))
        #expect(second.map(\.type) == [.removed, .removed, .added, .modified])
        #expect(second.map(\.document.documentID) == ["a", "c", "bb", "b"])
        #expect(second.map(\.oldIndex) == [0, 1, UInt(NSNotFound), 0])
        #expect(second.map(\.newIndex) == [UInt(NSNotFound), UInt(NSNotFound), 1, 0])
        #expect(view.documents.map(\.documentID) == ["b", "bb", "d"])
    }

    @Test func `Modified documents move in query order`() throws {
        var query = try Self.plain
        query.orders = [StructuredQuery.Order(.field(FieldPath(["n"])), .descending)]
        var view = try view(of: query)
        #expect(view.apply(try changes(["a": 1, "b": 2, "c": 3])).map(\.document.documentID) == ["c", "b", "a"])
        let moved = view.apply(try changes(["a": 9, "c": 0]))
        #expect(moved.map(\.document.documentID) == ["a", "c"])
        #expect(moved.map(\.oldIndex) == [2, 1])
        #expect(moved.map(\.newIndex) == [0, 2])
        #expect(view.documents.map(\.documentID) == ["a", "b", "c"])

        query.limit = .last(2)
        view = try self.view(of: query)
        #expect(view.apply(try changes(["a": 1, "b": 2])).map(\.document.documentID) == ["b", "a"])
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>, [false, true])
    func `Replaying the changes produces the new result`(seed: UInt64, isSorted: Bool) throws {
        var random = SeededGenerator(seed: seed)
        var query = try Self.plain
        if isSorted { query.orders = [StructuredQuery.Order(.field(FieldPath(["n"])))] }
        var view = try view(of: query)
        var replayed: [QueryDocumentSnapshot] = []
        for _ in 0..<30 {
            var next: [String: Int64?] = [:]
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                let number = Int64.random(in: 0..<9, using: &random)
                next["\(Int.random(in: 0..<30, using: &random))"] = number < 3 ? .some(nil) : .some(number)
            }
            for change in view.apply(try changes(next)) {
                if change.oldIndex != UInt(NSNotFound) { replayed.remove(at: Int(change.oldIndex)) }
                if change.newIndex != UInt(NSNotFound) { replayed.insert(change.document, at: Int(change.newIndex)) }
            }
            #expect(replayed == view.documents)
            let numbers = replayed.compactMap { $0.get("n") as? Int }
            if isSorted { #expect(numbers == numbers.sorted()) }
        }
    }

    @Test func `A document without a sort field is excluded and reported`() throws {
        var query = try Self.plain
        query.orders = [StructuredQuery.Order(.field(FieldPath(["other"])))]
        var view = try view(of: query)
        #expect(view.apply(try changes(["a": 1])).isEmpty)
        #expect(view.damaged.map(\.error.path) == ["c/a"])
    }

    @Test func `An identical snapshot produces no changes`() throws {
        var view = try view(of: Self.plain)
        let documents = try [document("a"), document("b")]
        let everything = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        #expect(view.apply(.snapshot(everything, damaged: [])).count == 2)
        #expect(view.apply(.snapshot(everything, damaged: [])).isEmpty)
        let fewer = everything.filter { $0.key.id.key == "b" }
        #expect(view.apply(.snapshot(fewer, damaged: [])).map(\.type) == [.removed])
    }
}
