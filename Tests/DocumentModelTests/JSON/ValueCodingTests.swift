import DocumentModel
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// A value and its canonical JSON.
struct ValueCodingCase: CustomTestStringConvertible, Sendable {
    let value: Value
    let json: String

    init(_ value: Value, _ json: String) {
        self.value = value
        self.json = json
    }

    var testDescription: String { String(json.prefix(60)) }
}

@Suite("JSON coding of values")
struct ValueCodingTests {
    static func text(of value: Value) -> String {
        var writer = JSONWriter()
        value.write(to: &writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    static let cases: [ValueCodingCase] = [
        ValueCodingCase(.null, "null"),
        ValueCodingCase(.boolean(true), "true"),
        ValueCodingCase(.boolean(false), "false"),
        ValueCodingCase(.integer(0), "0"),
        ValueCodingCase(.integer(816), "816"),
        ValueCodingCase(.integer(9_007_199_254_740_993), "9007199254740993"),
        ValueCodingCase(.integer(.max), "9223372036854775807"),
        ValueCodingCase(.integer(.min), "-9223372036854775808"),
        ValueCodingCase(.double(1), "1.0"),
        ValueCodingCase(.double(0), "0.0"),
        ValueCodingCase(.double(-0.0), "-0.0"),
        ValueCodingCase(.double(0.1), "0.1"),
        ValueCodingCase(.double(1e300), "1e+300"),
        ValueCodingCase(.double(.leastNonzeroMagnitude), "5e-324"),
        ValueCodingCase(.double(.nan), #"{"$double":"NaN"}"#),
        ValueCodingCase(.double(.infinity), #"{"$double":"Infinity"}"#),
        ValueCodingCase(.double(-.infinity), #"{"$double":"-Infinity"}"#),
        ValueCodingCase(.string(""), #""""#),
        ValueCodingCase(.string("a\"\\/\n\u{0}\u{7f}"), #""a\"\\/\n\u0000\u007f""#),
        ValueCodingCase(.string("\u{2028}🐵e\u{301}é\u{feff}"), "\"\u{2028}🐵e\u{301}é\u{feff}\""),
        ValueCodingCase(.string("$timestamp"), #""$timestamp""#),
        ValueCodingCase(.timestamp(.minimum), #"{"$timestamp":"0001-01-01T00:00:00.000000Z"}"#),
        ValueCodingCase(.timestamp(.maximum), #"{"$timestamp":"9999-12-31T23:59:59.999999Z"}"#),
        ValueCodingCase(.bytes([]), #"{"$bytes":""}"#),
        ValueCodingCase(.bytes([0]), #"{"$bytes":"AA=="}"#),
        ValueCodingCase(.bytes([0xff, 0xfe]), #"{"$bytes":"//4="}"#),
        ValueCodingCase(.bytes([0xfb, 0xef, 0xbe]), #"{"$bytes":"++++"}"#),
        ValueCodingCase(.bytes(Array("foobar".utf8)), #"{"$bytes":"Zm9vYmFy"}"#),
        ValueCodingCase(.vector([]), #"{"$vector":[]}"#),
        ValueCodingCase(.vector([0.1, 2, -0.0]), #"{"$vector":[0.1,2.0,-0.0]}"#),
        ValueCodingCase(
            .vector([.nan, .infinity, -.infinity]),
            #"{"$vector":[{"$double":"NaN"},{"$double":"Infinity"},{"$double":"-Infinity"}]}"#
        ),
        ValueCodingCase(.array([]), "[]"),
        ValueCodingCase(.array([.integer(1), .double(1), .string("1")]), #"[1,1.0,"1"]"#),
        ValueCodingCase(.array([.array([.null])]), "[[null]]"),
        ValueCodingCase(.map([:]), "{}"),
        ValueCodingCase(.map(["b": .integer(1), "a": .map(["": .null])]), #"{"a":{"":null},"b":1}"#),
        ValueCodingCase(.map(["é": .integer(1), "e\u{301}": .integer(2)]), "{\"e\u{301}\":2,\"é\":1}"),
        ValueCodingCase(.map(["a$": .integer(1)]), #"{"a$":1}"#),
        ValueCodingCase(.map(["$": .integer(1)]), #"{"$map":{"$":1}}"#),
        ValueCodingCase(.map(["$timestamp": .string("x"), "a": .null]), #"{"$map":{"$timestamp":"x","a":null}}"#),
        ValueCodingCase(.map(["$map": .map(["$map": .null])]), #"{"$map":{"$map":{"$map":{"$map":null}}}}"#),
    ]

    @Test(arguments: cases)
    func `Each type has a canonical representation`(test: ValueCodingCase) {
        #expect(Self.text(of: test.value) == test.json)
    }

    @Test(arguments: cases)
    func `Canonical JSON decodes to an identical value`(test: ValueCodingCase) throws {
        #expect(try Value(json: JSONText(test.json).root) == test.value)
    }

    @Test
    func `References and geo points are tagged`() throws {
        let reference = Value.reference(try DocumentPath("books/hitchhiker/reviews/e\u{301}"))
        #expect(Self.text(of: reference) == "{\"$reference\":\"books/hitchhiker/reviews/e\u{301}\"}")
        let point = Value.geoPoint(try GeoPoint(validatingLatitude: 53.553986, longitude: 9.9856482))
        #expect(Self.text(of: point) == #"{"$geoPoint":{"latitude":53.553986,"longitude":9.9856482}}"#)
        #expect(try Value(json: JSONText(Self.text(of: reference)).root) == reference)
        #expect(try Value(json: JSONText(Self.text(of: point)).root) == point)
    }

    @Test(
        arguments: [
            ValueCodingCase(.integer(0), "-0"),
            ValueCodingCase(.double(-0.0), "-0e0"),
            ValueCodingCase(.double(100), "1E2"),
            ValueCodingCase(.double(0x1p63), "9223372036854775808.0"),
            ValueCodingCase(.string("é/"), #""\u00e9\/""#),
            ValueCodingCase(.bytes([0xff]), #"{ "$bytes" : "\/w==" }"#),
            ValueCodingCase(.timestamp(.minimum), #"{"\u0024timestamp":"0001-01-01t01:00:00.0000009+01:00"}"#),
            ValueCodingCase(.vector([1, 2.5]), #"{"$vector":[1,2.5]}"#),
            ValueCodingCase(.map(["a": .null]), #"{"$map":{"a":null}}"#),
            ValueCodingCase(.map(["a": .integer(1), "b": .integer(2)]), #"{"b":2,"a":1}"#),
        ]
    )
    func `Non-canonical representations are decoded`(test: ValueCodingCase) throws {
        #expect(try Value(json: JSONText(test.json).root) == test.value)
    }

    @Test
    func `The coordinates of a geo point may be in any order, and may be integers`() throws {
        let text = #"{"$geoPoint":{"longitude":-180,"latitude":90.0}}"#
        #expect(try Value(json: JSONText(text).root) == .geoPoint(GeoPoint(validatingLatitude: 90, longitude: -180)))
    }

    @Test
    func `Random values round-trip`() throws {
        var random = RandomCodecFields(seed: SeededGenerator.currentSeed)
        for _ in 0..<400 {
            let value = random.value(depth: 5)
            let text = Self.text(of: value)
            let read = try Value(json: JSONText(text).root)
            #expect(read == value, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed) \(text)")
            #expect(Self.text(of: read).utf8.elementsEqual(text.utf8), "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }
}
