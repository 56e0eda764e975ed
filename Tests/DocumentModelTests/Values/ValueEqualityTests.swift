import DocumentModel
import Testing
import UTF8Text

@Suite("Value equality")
struct ValueEqualityTests {
    private static let otherNaN = Double(bitPattern: 0x7ff8_0000_0000_0001)

    @Test(
        arguments: [
            (Value.double(.nan), Value.double(otherNaN)),
            (.vector([.nan, 1]), .vector([otherNaN, 1])),
            (.string("grüße"), .string("grüße")),
            (.map(["a": .null, "b": .integer(1)]), .map(["b": .integer(1), "a": .null])),
            (.array([.double(.nan)]), .array([.double(.nan)])),
        ]
    )
    func `Bitwise identical values are equal, including NaN`(_ left: Value, _ right: Value) {
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(left.isEqual(to: right))
    }

    @Test(
        arguments: [
            (Value.integer(3), Value.double(3), true),
            (.double(0), .double(-0.0), true),
            (.array([.integer(3)]), .array([.double(3)]), true),
            (.map(["a": .integer(3)]), .map(["a": .double(3)]), true),
            (.vector([0]), .vector([-0.0]), true),
            (.string("\u{e9}"), .string("e\u{301}"), false),
            (.string("K"), .string("\u{212a}"), false),
            (.string("a\r\nb"), .string("a\nb"), false),
            (.map(["\u{e9}": .null]), .map(["e\u{301}": .null]), false),
            (.bytes([1]), .vector([1]), false),
            (.array([]), .map([:]), false),
            (.null, .boolean(false), false),
        ]
    )
    func `Values of different types, bits or bytes are not equal, even if they compare as equal`(
        _ left: Value,
        _ right: Value,
        isEqualInOrder: Bool
    ) {
        #expect(left != right)
        #expect(left.isEqual(to: right) == isEqualInOrder)
    }

    @Test
    func `Geo points at 0 and -0 are not equal`() throws {
        let zero = try GeoPoint(validatingLatitude: 0, longitude: 0)
        #expect(zero == (try GeoPoint(validatingLatitude: 0, longitude: 0)))
        #expect(zero != (try GeoPoint(validatingLatitude: -0.0, longitude: 0)))
    }

    @Test
    func `A value takes 24 bytes`() {
        #expect(MemoryLayout<Value>.stride == 24)
    }
}
