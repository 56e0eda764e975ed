import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import Testing

@Suite("What can't be in a document")
struct EncodingErrorTests {
    private struct Outer<Value: Encodable>: Encodable {
        var list: [[String: Value]]
    }

    private func place(of value: some Encodable) throws -> [String] {
        try #require(throws: EncodingError.self) { try fields(of: value) }.place
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func `numbers that are none, unless they are to be strings`(
        number: Double
    ) throws {
        #expect(try place(of: Outer(list: [[:], ["a": number]])) == ["list", "Index 1", "a"])
        #expect(try place(of: ["list": [1, number]]) == ["list", "Index 1"])
        #expect(try place(of: ["a": Float(number)]) == ["a"])
        let encoder = Firestore.Encoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        let text = number.isNaN ? "?" : number > 0 ? "+" : "-"
        #expect(try fields(of: ["a": number], with: encoder) == ["a": .string(text)])
        let decoder = Firestore.Decoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        let decoded = try decode([String: Double].self, ["a": .string(text)], with: decoder)["a"]
        #expect(decoded?.isNaN == number.isNaN && (number.isNaN || decoded == number))
        let itself = try decode([String: Double].self, ["a": .double(number)])["a"]
        #expect(itself?.isNaN == number.isNaN && (number.isNaN || itself == number))
    }

    @Test func `integers beyond 64 bits with a sign`() throws {
        #expect(try place(of: Outer(list: [["a": UInt64.max]])) == ["list", "Index 0", "a"])
        #expect(try place(of: ["a": [UInt.max]]) == ["a", "Index 0"])
    }

    @Test func `dates beyond the years`() throws {
        #expect(try place(of: ["a": Date(timeIntervalSince1970: 1e18)]) == ["a"])
        #expect(try place(of: ["a": [Date(timeIntervalSince1970: -1e12)]]) == ["a", "Index 0"])
    }

    @Test func `anything but a map as the whole document`() throws {
        #expect(try place(of: 1) == [])
        #expect(try place(of: "text") == [])
        #expect(try place(of: [1, 2]) == [])
        #expect(try place(of: Date()) == [])
        #expect(try place(of: GeoPoint(latitude: 0, longitude: 0)) == [])
        #expect(try place(of: Int?.none) == [])
        #expect(try place(of: FieldValue.delete()) == [])
    }

    @Test func `what the server fills in, inside an array`() throws {
        #expect(try place(of: ["a": [FieldValue.increment(1)]]) == ["a", "Index 0"])
        #expect(try place(of: Outer(list: [["a": FieldValue.serverTimestamp()]])) == ["list", "Index 0", "a"])
    }
}
