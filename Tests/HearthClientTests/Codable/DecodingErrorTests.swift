import DocumentModel
import Foundation
import HearthClient
import Testing
import UTF8Text

@Suite("Decoding errors")
struct DecodingErrorTests {
    private struct Outer: Decodable {
        struct Inner: Decodable {
            var values: [Int]
        }

        var inner: [String: Inner]
    }

    @Test(
        arguments: [
            (["inner": .integer(1)], "typeMismatch Dictionary<String, Any>", ["inner"]),
            (["inner": .map(["a": .map(["values": .string("x")])])], "typeMismatch Array<Any>", ["inner", "a", "values"]),
            (
                ["inner": .map(["a": .map(["values": .array([.integer(1), .string("x")])])])], "typeMismatch Int",
                ["inner", "a", "values", "Index 1"]
            ),
            (
                ["inner": .map(["a": .map(["values": .array([.null])])])], "valueNotFound Int",
                ["inner", "a", "values", "Index 0"]
            ),
            (["inner": .map(["a": .map([:])])], "keyNotFound", ["inner", "a", "values"]),
            (
                ["inner": .map(["a": .map(["values": .array([.double(45.55)])])])], "dataCorrupted",
                ["inner", "a", "values", "Index 0"]
            ),
        ] as [(MapValue, String, [String])]
    ) func `Decoding errors contain the coding path and the document path`(
        fields: MapValue,
        kind: String,
        path: [String]
    ) throws {
        let error = try #require(throws: DecodingError.self) { try decode(Outer.self, fields) }
        #expect(error.kind == kind)
        #expect(error.path == path)
        #expect(error.text.contains("(document books/a)"))
    }

    @Test func `Decoding errors describe the actual value`() throws {
        let wrong = try #require(throws: DecodingError.self) { try decode([String: Int].self, ["pages": .string("many")]) }
        #expect(wrong.text == "Expected to decode Int, found a string. (document books/a)")
        let missing = try #require(throws: DecodingError.self) {
            try decode(Outer.self, ["Inner": .null, "other": .integer(1)])
        }
        #expect(missing.text == "Expected a field named \"inner\". Existing fields: Inner, other. (document books/a)")
    }

    @Test(arguments: [
        Value.integer(128), .integer(-129), .double(1.5), .double(1e300), .double(.nan),
    ]) func `Numbers out of range are rejected`(number: Value) throws {
        let error = try #require(throws: DecodingError.self) { try decode([String: Int8].self, ["a": number]) }
        #expect(error.kind == "dataCorrupted")
        #expect(error.path == ["a"])
    }

    @Test func `Doubles too large for Float are rejected, but infinity is not`() throws {
        let error = try #require(throws: DecodingError.self) { try decode([String: Float].self, ["a": .double(1e300)]) }
        #expect(error.kind == "dataCorrupted")
        #expect(try decode([String: Float].self, ["a": .double(.infinity), "b": .integer(2)]) == ["a": .infinity, "b": 2])
    }

    @Test func `Numbers are converted if exact, booleans never`() throws {
        #expect(try decode([String: Int].self, ["a": .double(42)]) == ["a": 42])
        #expect(try decode([String: Double].self, ["a": .integer(42)]) == ["a": 42])
        for value in [Value.integer(1), .double(1), .string("true")] {
            #expect(throws: DecodingError.self) { try decode([String: Bool].self, ["a": value]) }
        }
        for value in [Value.boolean(true), .string("1")] {
            #expect(throws: DecodingError.self) { try decode([String: Int].self, ["a": value]) }
            #expect(throws: DecodingError.self) { try decode([String: Double].self, ["a": value]) }
        }
    }

    @Test func `An invalid URL is rejected`() throws {
        let error = try #require(throws: DecodingError.self) { try decode([String: URL].self, ["a": .string("")]) }
        #expect(error.kind == "dataCorrupted")
        #expect(error.text.hasPrefix("Invalid URL string"))
    }

    @Test func `A missing document is an error, or nil for an optional type`() throws {
        let document = offlineDatabase.document("books/missing")
        let decoder = Firestore.Decoder()
        let error = try #require(throws: DecodingError.self) {
            try decoder.decode([String: Int].self, from: .null, of: document, in: offlineDatabase)
        }
        #expect(error.kind == "valueNotFound Dictionary<String, Any>")
        #expect(error.text.contains("books/missing"))
        #expect(try decoder.decode([String: Int]?.self, from: .null, of: document, in: offlineDatabase) == nil)
    }

    @Test func `Errors of the type's own initializer are rethrown unchanged`() throws {
        struct Failing: Decodable {
            struct Failure: Error {}
            init(from decoder: any Swift.Decoder) throws { throw Failure() }
        }
        #expect(throws: Failing.Failure.self) { try decode(Failing.self, [:]) }
    }
}
