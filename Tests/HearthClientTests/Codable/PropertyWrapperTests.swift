import Foundation
import HearthClient
import Testing
import UTF8Text

import struct DocumentModel.MapValue

@Suite("Property wrappers")
struct PropertyWrapperTests {
    private struct Book: Codable, Equatable {
        struct Cover: Codable, Equatable {
            @DocumentID var book: String?
            var small: String
        }

        @DocumentID var id: String?
        @DocumentID var reference: DocumentReference?
        var title: String
        var cover: Cover
    }

    @Test func `@DocumentID is set from the document at any depth, never from a field`() throws {
        let fields: MapValue = [
            "id": .integer(7), "title": .string("x"), "cover": .map(["small": .string("s"), "book": .string("other")]),
        ]
        let book = try decode(Book.self, fields)
        #expect(book.id == "a")
        #expect(book.reference == offlineDatabase.document("books/a"))
        #expect(book.cover.book == "a")
        let bare = try decode(Book.self, ["title": .string("x"), "cover": .map(["small": .string("s")])])
        #expect(bare == book)
    }

    @Test func `@DocumentID is not encoded`() throws {
        let book = Book(id: "b", reference: offlineDatabase.document("books/c"), title: "x", cover: .init(book: "d", small: "s"))
        #expect(try fields(of: book) == ["title": .string("x"), "cover": .map(["small": .string("s")])])
    }

    @Test func `@DocumentID is rejected outside of maps and by other coders`() throws {
        #expect(throws: FirestoreEncodingError.self) { try fields(of: ["a": [DocumentID(wrappedValue: "x")]]) }
        let book = Book(title: "x", cover: .init(small: "s"))
        #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(book) }
        #expect(throws: FirestoreDecodingError.self) {
            try Firestore.Decoder().decode(Book.self, from: ["title": "x", "cover": ["small": "s"]])
        }
        let data = ["title": "x", "cover": ["small": "s"]] as [String: Any]
        #expect(try Firestore.Decoder().decode(Book.self, from: data, in: offlineDatabase.document("books/e")).id == "e")
    }

    private struct Post: Codable, Equatable {
        @ServerTimestamp var written: Date?
        @ServerTimestamp var seen: Timestamp?
    }

    @Test func `@ServerTimestamp encodes nil as a sentinel`() throws {
        let encoded = try Firestore.Encoder().encode(Post())
        #expect(encoded["written"] as? FieldValue == FieldValue.serverTimestamp())
        #expect(encoded["seen"] as? FieldValue == FieldValue.serverTimestamp())
        let moment = Timestamp(seconds: 5, nanoseconds: 7_000)
        let fixed = Post(written: moment.dateValue(), seen: moment)
        let expected: MapValue = ["written": .timestamp(moment), "seen": .timestamp(moment)]
        #expect(try fields(of: fixed) == expected)
        #expect(try decode(Post.self, expected) == fixed)
        #expect(try decode(Post.self, ["written": .null, "seen": .null]) == Post())
        let missing = try #require(throws: DecodingError.self) { try decode(Post.self, ["written": .null]) }
        #expect(missing.kind == "keyNotFound")
    }

    @Test func `@ServerTimestamp is supported in nested maps`() throws {
        let encoded = try Firestore.Encoder().encode(["inner": Post(written: nil, seen: Timestamp(seconds: 1, nanoseconds: 0))])
        let inner = encoded["inner"] as? [String: Any]
        #expect(inner?["written"] as? FieldValue == FieldValue.serverTimestamp())
        #expect(inner?["seen"] as? Timestamp == Timestamp(seconds: 1, nanoseconds: 0))
    }

    private struct Note: Codable, Equatable {
        @ExplicitNull var text: String?
        @ExplicitNull var color: HexColor?
    }

    @Test func `@ExplicitNull encodes nil as null and requires the field`() throws {
        #expect(try fields(of: Note()) == ["text": .null, "color": .null])
        #expect(try decode(Note.self, ["text": .null, "color": .null]) == Note())
        let note = Note(text: "x", color: .white)
        #expect(try fields(of: note) == ["text": .string("x"), "color": .string("#fff")])
        #expect(try decode(Note.self, ["text": .string("x"), "color": .string("#fff")]) == note)
        let missing = try #require(throws: DecodingError.self) { try decode(Note.self, ["text": .null]) }
        #expect(missing.path == ["color"])
    }

    @Test func `Other coders reject Firestore types`() throws {
        #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode([FieldValue.delete()]) }
        #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode([offlineDatabase.document("a/b")]) }
        #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(Post()) }
        #expect(throws: FirestoreDecodingError.self) {
            try JSONDecoder().decode([DocumentReference].self, from: Data(#"["a/b"]"#.utf8))
        }
    }

    @Test func `Timestamps, geo points and vectors are maps in other coders`() throws {
        struct All: Codable, Equatable {
            var time = Timestamp(seconds: -1, nanoseconds: 5_000)
            var point = GeoPoint(latitude: 1.5, longitude: -2)
            var vector = VectorValue([1])
        }
        let data = try JSONEncoder().encode(All())
        #expect(try JSONDecoder().decode(All.self, from: data) == All())
        let map: MapValue = [
            "time": .map(["seconds": .integer(-1), "nanoseconds": .integer(5_000)]),
            "point": .map(["latitude": .double(1.5), "longitude": .integer(-2)]),
            "vector": .map(["array": .array([.integer(1)])]),
        ]
        #expect(try decode(All.self, map) == All())
        #expect(
            try decode([String: Date].self, ["a": .map(["seconds": .integer(1), "nanoseconds": .integer(0)])])["a"]?
                .timeIntervalSince1970 == 1
        )
        let wrong = try #require(throws: DecodingError.self) {
            try decode([String: GeoPoint].self, ["a": .map(["latitude": .integer(91), "longitude": .integer(0)])])
        }
        #expect(wrong.kind == "dataCorrupted")
        #expect(wrong.path == ["a"])
    }
}
