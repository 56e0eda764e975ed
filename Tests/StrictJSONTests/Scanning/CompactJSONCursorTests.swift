import StrictJSON
import TestSupport
import Testing

@Suite("Cursor in compact JSON")
struct CompactJSONCursorTests {
    /// Reads a value as the encoders of documents do, and returns the number of its scalars.
    private static func read(_ json: inout CompactJSONCursor) throws -> Int {
        var count = 0
        switch json.next {
        case UInt8(ascii: "\""):
            _ = try json.string()
            return 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = json.next == UInt8(ascii: "{")
            let (opening, closing): (UInt8, UInt8) =
                isObject ? (UInt8(ascii: "{"), UInt8(ascii: "}")) : (UInt8(ascii: "["), UInt8(ascii: "]"))
            try json.open(opening)
            guard !json.closes(closing) else { return 0 }
            repeat {
                if isObject {
                    _ = try json.string()
                    try json.expect(UInt8(ascii: ":"))
                }
                count += try read(&json)
            } while json.skip(UInt8(ascii: ","))
            try json.close(closing)
            return count
        default:
            if json.skip("true") || json.skip("false") || json.skip("null") { return 1 }
            _ = try json.number()
            return 1
        }
    }

    private static func count(_ text: [UInt8]) throws -> Int {
        try text.withUnsafeBufferPointer { bytes in
            var json = CompactJSONCursor(bytes)
            let count = try read(&json)
            guard json.isAtEnd else { throw json.failure }
            return count
        }
    }

    private static let text = Array(#"{"a":[1,-2.5e3,"\"\\",[],{}],"é":{"b":true,"c":null},"d":"\u00e9🐵"}"#.utf8)

    @Test
    func `All values are read`() throws {
        #expect(try Self.count(Self.text) == 6)
        #expect(try Self.count(Array("[]".utf8)) == 0)
    }

    @Test
    func `A truncated text is an error`() {
        for length in 0..<Self.text.count {
            #expect(throws: CompactJSONCursor.InvalidText.self) { try Self.count(Array(Self.text.prefix(length))) }
        }
    }

    @Test
    func `Altered bytes are read within the text`() {
        for index in Self.text.indices {
            for bit in 0..<8 {
                var altered = Self.text
                altered[index] ^= 1 << bit
                // An error or other values; the test ends the process if it reads outside.
                _ = try? Self.count(altered)
            }
        }
    }

    @Test
    func `Deep nesting is an error`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(try Self.count(nested(64)) == 0)
        #expect(throws: CompactJSONCursor.InvalidText.self) { try Self.count(nested(65)) }
        #expect(throws: CompactJSONCursor.InvalidText.self) { try Self.count(nested(1_000_000)) }
    }
}
