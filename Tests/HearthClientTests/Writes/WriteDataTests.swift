import DocumentModel
import StrictJSON
import Testing

@testable import HearthClient

@Suite("Writes as users state them")
struct WriteDataTests {
    private static let path = (try? DocumentPath("books/a"))!  // A valid literal.

    private func set(_ data: [String: Any], merge: Write.Merge = .none) throws -> Write {
        try .set(Self.path, DocumentData(data), merge: merge)
    }

    private func field(_ text: String) throws -> DocumentModel.FieldPath { try FieldPath(text) }

    @Test func `a set replaces, and what the server fills in comes after`() throws {
        let write = try set(["a": 1, "inner": ["time": FieldValue.serverTimestamp(), "b": 2]])
        #expect(write.operation == .replace(["a": .integer(1), "inner": .map(["b": .integer(2)])]))
        #expect(write.transforms == [FieldTransform(field: try field("inner.time"), operation: .serverTimestamp)])
        #expect(write.precondition == .none)
        #expect(throws: StatusError.self) { try set(["a": FieldValue.delete()]) }
    }

    @Test func `a merging set leaves the maps around what the server fills in alone`() throws {
        let data: [String: Any] = [
            "a": ["b": FieldValue.increment(2), "c": ["d": FieldValue.serverTimestamp()]], "e": [String: Any](),
            "f": FieldValue.delete(), "dotted.name": 1,
        ]
        let write = try set(data, merge: .all)
        let expected: MapValue = ["e": .map([:]), "dotted.name": .integer(1)]
        #expect(write.operation == .patch(expected, mask: [try field("`dotted.name`"), try field("e"), try field("f")]))
        #expect(
            Set(write.transforms) == [
                FieldTransform(field: try field("a.b"), operation: .increment(.integer(2))),
                FieldTransform(field: try field("a.c.d"), operation: .serverTimestamp),
            ]
        )
    }

    @Test func `a set of named fields ignores all others`() throws {
        let data: [String: Any] = ["a": 1, "b": 2, "in": FieldValue.increment(1), "out": FieldValue.increment(1)]
        let write = try set(data, merge: .fields(any: ["a", FieldPath(["in"])]))
        #expect(write.transforms == [FieldTransform(field: try field("in"), operation: .increment(.integer(1)))])
        guard case .patch(_, let mask) = write.operation else { throw StatusError(.unknown, "no patch") }
        #expect(mask == [try field("a")])
        let missing = #expect(throws: StatusError.self) { try set(data, merge: .fields(any: ["c"])) }
        #expect(missing?.field == "c")
        #expect(throws: StatusError.self) { try set(data, merge: .fields(any: [1])) }
    }

    @Test func `an update names fields by paths`() throws {
        let write = try Write.update(
            Self.path,
            [
                "a.é": 1, FieldPath(["x.y", "z"]): ["m": FieldValue.serverTimestamp()], "gone": FieldValue.delete(),
                "list": FieldValue.arrayUnion([1]),
            ]
        )
        let expected: MapValue = ["a": .map(["é": .integer(1)]), "x.y": .map(["z": .map([:])])]
        #expect(write.operation == .patch(expected, mask: [try field("a.`é`"), try field("gone"), try field("`x.y`.z")]))
        #expect(write.precondition == .exists(true))
        #expect(
            Set(write.transforms) == [
                FieldTransform(field: try field("`x.y`.z.m"), operation: .serverTimestamp),
                FieldTransform(field: try field("list"), operation: .arrayUnion([.integer(1)])),
            ]
        )
    }

    @Test(arguments: ["", ".a", "a.", "a..b", "a~b", "a*b", "a/b", "a[0]"]) func `an update refuses paths that mean nothing`(
        path: String
    ) {
        let error = #expect(throws: StatusError.self) { try Write.update(Self.path, [path: 1]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `an update refuses what it can't do`() {
        #expect(throws: StatusError.self) { try Write.update(Self.path, [:]) }
        #expect(throws: StatusError.self) { try Write.update(Self.path, [1: 1]) }
        #expect(throws: StatusError.self) { try Write.update(Self.path, ["a": ["b": FieldValue.delete()]]) }
        #expect(throws: StatusError.self) { try Write.update(Self.path, ["a": 1, "a.b": 2]) }
    }
}
