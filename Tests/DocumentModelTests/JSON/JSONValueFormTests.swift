import DocumentModel
import StrictJSON
import TestSupport
import Testing

/// A value and its canonical JSON.
struct FormCase: CustomTestStringConvertible, Sendable {
    let value: Value
    let json: String

    init(_ value: Value, _ json: String) {
        self.value = value
        self.json = json
    }

    var testDescription: String { String(json.prefix(60)) }
}

@Suite("The JSON form of a value")
struct JSONValueFormTests {
    static func text(of value: Value) -> String {
        var writer = JSONWriter()
        value.write(to: &writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    static let forms: [FormCase] = [
        FormCase(.null, "null"),
        FormCase(.boolean(true), "true"),
        FormCase(.boolean(false), "false"),
        FormCase(.integer(0), "0"),
        FormCase(.integer(816), "816"),
        FormCase(.integer(9_007_199_254_740_993), "9007199254740993"),
        FormCase(.integer(.max), "9223372036854775807"),
        FormCase(.integer(.min), "-9223372036854775808"),
        FormCase(.double(1), "1.0"),
        FormCase(.double(0), "0.0"),
        FormCase(.double(-0.0), "-0.0"),
        FormCase(.double(0.1), "0.1"),
        FormCase(.double(1e300), "1e+300"),
        FormCase(.double(.leastNonzeroMagnitude), "5e-324"),
        FormCase(.double(.nan), #"{"$double":"NaN"}"#),
        FormCase(.double(.infinity), #"{"$double":"Infinity"}"#),
        FormCase(.double(-.infinity), #"{"$double":"-Infinity"}"#),
        FormCase(.string(""), #""""#),
        FormCase(.string("a\"\\/\n\u{0}\u{7f}"), #""a\"\\/\n\u0000\u007f""#),
        FormCase(.string("\u{2028}🐵e\u{301}é\u{feff}"), "\"\u{2028}🐵e\u{301}é\u{feff}\""),
        FormCase(.string("$timestamp"), #""$timestamp""#),
        FormCase(.timestamp(.minimum), #"{"$timestamp":"0001-01-01T00:00:00.000000Z"}"#),
        FormCase(.timestamp(.maximum), #"{"$timestamp":"9999-12-31T23:59:59.999999Z"}"#),
        FormCase(.bytes([]), #"{"$bytes":""}"#),
        FormCase(.bytes([0]), #"{"$bytes":"AA=="}"#),
        FormCase(.bytes([0xff, 0xfe]), #"{"$bytes":"//4="}"#),
        FormCase(.bytes([0xfb, 0xef, 0xbe]), #"{"$bytes":"++++"}"#),
        FormCase(.bytes(Array("foobar".utf8)), #"{"$bytes":"Zm9vYmFy"}"#),
        FormCase(.vector([]), #"{"$vector":[]}"#),
        FormCase(.vector([0.1, 2, -0.0]), #"{"$vector":[0.1,2.0,-0.0]}"#),
        FormCase(
            .vector([.nan, .infinity, -.infinity]),
            #"{"$vector":[{"$double":"NaN"},{"$double":"Infinity"},{"$double":"-Infinity"}]}"#
        ),
        FormCase(.array([]), "[]"),
        FormCase(.array([.integer(1), .double(1), .string("1")]), #"[1,1.0,"1"]"#),
        FormCase(.array([.array([.null])]), "[[null]]"),
        FormCase(.map([:]), "{}"),
        FormCase(.map(["b": .integer(1), "a": .map(["": .null])]), #"{"a":{"":null},"b":1}"#),
        FormCase(.map(["é": .integer(1), "e\u{301}": .integer(2)]), "{\"e\u{301}\":2,\"é\":1}"),
        FormCase(.map(["a$": .integer(1)]), #"{"a$":1}"#),
        FormCase(.map(["$": .integer(1)]), #"{"$map":{"$":1}}"#),
        FormCase(.map(["$timestamp": .string("x"), "a": .null]), #"{"$map":{"$timestamp":"x","a":null}}"#),
        FormCase(.map(["$map": .map(["$map": .null])]), #"{"$map":{"$map":{"$map":{"$map":null}}}}"#),
    ]

    @Test("Each type is written in its one form", arguments: forms)
    func writes(form: FormCase) {
        #expect(Self.text(of: form.value) == form.json)
    }

    @Test("What is written is read as the same value, bit by bit", arguments: forms)
    func reads(form: FormCase) throws {
        #expect(try Value(json: JSONText(form.json).root) == form.value)
    }

    @Test("References and geo points have tags of their own")
    func referencesAndPoints() throws {
        let reference = Value.reference(try DocumentPath("books/hitchhiker/reviews/e\u{301}"))
        #expect(Self.text(of: reference) == "{\"$reference\":\"books/hitchhiker/reviews/e\u{301}\"}")
        let point = Value.geoPoint(try GeoPoint(validatingLatitude: 53.553986, longitude: 9.9856482))
        #expect(Self.text(of: point) == #"{"$geoPoint":{"latitude":53.553986,"longitude":9.9856482}}"#)
        #expect(try Value(json: JSONText(Self.text(of: reference)).root) == reference)
        #expect(try Value(json: JSONText(Self.text(of: point)).root) == point)
    }

    @Test(
        "Other spellings of a value are read too",
        arguments: [
            FormCase(.integer(0), "-0"),
            FormCase(.double(-0.0), "-0e0"),
            FormCase(.double(100), "1E2"),
            FormCase(.double(0x1p63), "9223372036854775808.0"),
            FormCase(.string("é/"), #""\u00e9\/""#),
            FormCase(.bytes([0xff]), #"{ "$bytes" : "\/w==" }"#),
            FormCase(.timestamp(.minimum), #"{"\u0024timestamp":"0001-01-01t01:00:00.0000009+01:00"}"#),
            FormCase(.vector([1, 2.5]), #"{"$vector":[1,2.5]}"#),
            FormCase(.map(["a": .null]), #"{"$map":{"a":null}}"#),
            FormCase(.map(["a": .integer(1), "b": .integer(2)]), #"{"b":2,"a":1}"#),
        ]
    )
    func readsOtherSpellings(form: FormCase) throws {
        #expect(try Value(json: JSONText(form.json).root) == form.value)
    }

    @Test("A geo point takes its members in any order, as integers too")
    func pointSpelling() throws {
        let text = #"{"$geoPoint":{"longitude":-180,"latitude":90.0}}"#
        #expect(try Value(json: JSONText(text).root) == .geoPoint(GeoPoint(validatingLatitude: 90, longitude: -180)))
    }

    @Test("Values of all types and hostile texts survive writing and reading")
    func randomRoundTrip() throws {
        var random = JSONRandomFields(seed: SeededGenerator.currentSeed)
        for _ in 0..<400 {
            let value = random.value(depth: 5)
            let text = Self.text(of: value)
            let read = try Value(json: JSONText(text).root)
            #expect(read == value, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed) \(text)")
            #expect(Self.text(of: read).utf8.elementsEqual(text.utf8), "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }
}
