import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Writes from user data")
struct WriteUserDataTests {
    private static let document = offlineDatabase.document("books/a")

    private func set(_ data: [String: Any], merge: Write.Merge = .none) throws -> Write {
        try .set(Self.document, DocumentData(data), merge: merge)
    }

    private func field(_ text: String) throws -> DocumentModel.FieldPath { try FieldPath(text) }

    @Test func `A set replaces the document and adds field transforms`() throws {
        let write = try set(["a": 1, "inner": ["time": FieldValue.serverTimestamp(), "b": 2]])
        #expect(write.operation == .replace(["a": .integer(1), "inner": .map(["b": .integer(2)])]))
        #expect(write.transforms == [FieldTransform(field: try field("inner.time"), operation: .serverTimestamp)])
        #expect(write.precondition == .none)
        #expect(throws: StatusError.self) { try set(["a": FieldValue.delete()]) }
    }

    @Test func `A merge with sentinels does not replace the maps around them`() throws {
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

    @Test func `A merge of fields ignores all other fields`() throws {
        let data: [String: Any] = ["a": 1, "b": 2, "in": FieldValue.increment(1), "out": FieldValue.increment(1)]
        let write = try set(data, merge: .fields(any: ["a", FieldPath(["in"])]))
        #expect(write.transforms == [FieldTransform(field: try field("in"), operation: .increment(.integer(1)))])
        guard case .patch(_, let mask) = write.operation else { throw StatusError(.unknown, "no patch") }
        #expect(mask == [try field("a")])
        let missing = #expect(throws: StatusError.self) { try set(data, merge: .fields(any: ["c"])) }
        #expect(missing?.field == "c")
        #expect(throws: StatusError.self) { try set(data, merge: .fields(any: [1])) }
    }

    @Test func `An update uses field paths`() throws {
        let write = try Write.update(
            Self.document,
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

    @Test(arguments: ["", ".a", "a.", "a..b", "a~b", "a*b", "a/b", "a[0]"]) func `An update rejects invalid field paths`(
        path: String
    ) {
        let error = #expect(throws: StatusError.self) { try Write.update(Self.document, [path: 1]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `An update rejects invalid data`() {
        #expect(throws: StatusError.self) { try Write.update(Self.document, [:]) }
        #expect(throws: StatusError.self) { try Write.update(Self.document, [1: 1]) }
        #expect(throws: StatusError.self) { try Write.update(Self.document, ["a": ["b": FieldValue.delete()]]) }
        #expect(throws: StatusError.self) { try Write.update(Self.document, ["a": 1, "a.b": 2]) }
    }

    @Test func `References to another database are rejected at any position`() async throws {
        let settings = FirestoreSettings()
        settings.host = "other.example"
        let foreign = Firestore(settings: settings).document("a/b")
        struct Linked: Encodable {
            let links: [[String: DocumentReference]]
        }
        let encoded = try Firestore.Encoder().documentData(Linked(links: [["to": foreign]]))
        let writes: [() throws -> Write] = [
            { try set(["a": foreign]) }, { try set(["a": [["b": foreign]]]) },
            { try set(["a": FieldValue.arrayUnion([foreign])]) }, { try Write.set(Self.document, encoded) },
            { try Write.update(Self.document, ["a": foreign]) },
        ]
        for write in writes {
            let error = #expect(throws: StatusError.self) { try write() }
            #expect(error?.message.contains("other.example") == true)
        }
        let batch = await #expect(throws: FirestoreError.self) {
            try await offlineDatabase.batch().deleteDocument(foreign).commit()
        }
        #expect(batch?.code == FirestoreErrorCode.invalidArgument.rawValue)
        let transaction = await #expect(throws: FirestoreError.self) {
            try await offlineDatabase.runTransaction { try await $0.getDocument(foreign).exists }
        }
        #expect(transaction?.code == FirestoreErrorCode.invalidArgument.rawValue)
        // Two instances for the same database are compatible.
        let same = Firestore(settings: offlineDatabase.settings).document("a/b")
        #expect(try set(["a": same]).operation == .replace(["a": .reference(DocumentPath("a/b"))]))
    }
}
