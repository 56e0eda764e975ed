import DocumentModel
import Foundation
import HearthClient
import Testing
import UTF8Text

@Suite("Encoding errors")
struct EncodingErrorTests {
    private struct Outer<Value: Encodable>: Encodable {
        var list: [[String: Value]]
    }

    private func path(of value: some Encodable) throws -> [String] {
        try #require(throws: EncodingError.self) { try fields(of: value) }.path
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func `NaN and infinity are rejected, or encoded as strings`(
        number: Double
    ) throws {
        #expect(try path(of: Outer(list: [[:], ["a": number]])) == ["list", "Index 1", "a"])
        #expect(try path(of: ["list": [1, number]]) == ["list", "Index 1"])
        #expect(try path(of: ["a": Float(number)]) == ["a"])
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

    @Test func `Integers out of the range of Int64 are rejected`() throws {
        #expect(try path(of: Outer(list: [["a": UInt64.max]])) == ["list", "Index 0", "a"])
        #expect(try path(of: ["a": [UInt.max]]) == ["a", "Index 0"])
    }

    @Test func `Dates out of range are rejected`() throws {
        #expect(try path(of: ["a": Date(timeIntervalSince1970: 1e18)]) == ["a"])
        #expect(try path(of: ["a": [Date(timeIntervalSince1970: -1e12)]]) == ["a", "Index 0"])
    }

    @Test func `A document must be encoded as a map`() throws {
        #expect(try path(of: 1) == [])
        #expect(try path(of: "text") == [])
        #expect(try path(of: [1, 2]) == [])
        #expect(try path(of: Date()) == [])
        #expect(try path(of: GeoPoint(latitude: 0, longitude: 0)) == [])
        #expect(try path(of: Int?.none) == [])
        #expect(try path(of: FieldValue.delete()) == [])
    }

    @Test func `Sentinels in arrays are rejected`() throws {
        #expect(try path(of: ["a": [FieldValue.increment(1)]]) == ["a", "Index 0"])
        #expect(try path(of: Outer(list: [["a": FieldValue.serverTimestamp()]])) == ["list", "Index 0", "a"])
    }
}
