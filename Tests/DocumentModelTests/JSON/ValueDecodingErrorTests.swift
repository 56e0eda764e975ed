import DocumentModel
import StrictJSON
import Testing

/// Invalid JSON, the expected field, and a part of the expected message.
struct DecodingErrorCase: CustomTestStringConvertible, Sendable {
    let json: String
    let field: String?
    let text: String

    init(_ json: String, _ field: String?, _ text: String) {
        self.json = json
        self.field = field
        self.text = text
    }

    var testDescription: String { String(json.prefix(60)) }
}

@Suite("Errors in the JSON of values")
struct ValueDecodingErrorTests {
    private func error(of json: String) throws -> StatusError? {
        let node = try JSONText(json).root
        do throws(StatusError) {
            _ = try MapValue(json: node)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            DecodingErrorCase("[]", nil, "an object of fields, found an array"),
            DecodingErrorCase("null", nil, "an object of fields, found null"),
            DecodingErrorCase(
                #"{"$timestamp":"2014-09-09T08:00:47Z"}"#,
                nil,
                "an object of fields, found a value tagged $timestamp"
            ),
            DecodingErrorCase(#"{"$price":1}"#, nil, "known tag"),
            DecodingErrorCase(#"{"$price":1}"#, nil, #"write it as {"$map": {…}}"#),
            DecodingErrorCase(#"{"$map":[]}"#, nil, "an object after $map, found an array"),
            DecodingErrorCase(#"{"a":{"$map":1}}"#, "a", "an object after $map, found 1"),
            DecodingErrorCase(#"{"a":{"$map":{},"b":1}}"#, "a", "the tag $map to be the only member"),
            DecodingErrorCase(#"{"a":{"b":1,"$bytes":""}}"#, "a", "the tag $bytes to be the only member"),
            DecodingErrorCase(#"{"a":{"b":1,"$c":""}}"#, "a", "known tag"),
            DecodingErrorCase(#"{"a":{"$Timestamp":"2014-09-09T08:00:47Z"}}"#, "a", #"found "$Timestamp""#),
            DecodingErrorCase(#"{"a":9223372036854775808}"#, "a", "an integer from -9223372036854775808"),
            DecodingErrorCase(#"{"a":-9223372036854775809}"#, "a", "found -9223372036854775809"),
            DecodingErrorCase(#"{"a":1e400}"#, "a", #"{"$double": "Infinity"}"#),
            DecodingErrorCase(#"{"a":{"$double":"nan"}}"#, "a", #"found the string "nan""#),
            DecodingErrorCase(#"{"a":{"$double":1.5}}"#, "a", "found 1.5"),
            DecodingErrorCase(#"{"a":{"$double":null}}"#, "a", "found null"),
            DecodingErrorCase(#"{"a":{"$timestamp":1410249647}}"#, "a", "RFC 3339 format after $timestamp"),
            DecodingErrorCase(#"{"a":{"$timestamp":"2014-09-09"}}"#, "a", "RFC 3339"),
            DecodingErrorCase(#"{"a":{"$timestamp":"2014-02-30T00:00:00Z"}}"#, "a", "is invalid"),
            DecodingErrorCase(#"{"a":{"$bytes":[1]}}"#, "a", "a string in base64 after $bytes, found an array"),
            DecodingErrorCase(#"{"a":{"$reference":"books"}}"#, "a", "document path"),
            DecodingErrorCase(#"{"a":{"$reference":"books/../x"}}"#, "a", ".."),
            DecodingErrorCase(#"{"a":{"$reference":{}}}"#, "a", "after $reference"),
            DecodingErrorCase(#"{"a":{"$geoPoint":[53,9]}}"#, "a", "exactly latitude and longitude"),
            DecodingErrorCase(#"{"a":{"$geoPoint":{"latitude":1}}}"#, "a", "exactly latitude and longitude"),
            DecodingErrorCase(
                #"{"a":{"$geoPoint":{"latitude":1,"longitude":2,"altitude":3}}}"#,
                "a",
                "exactly latitude and longitude"
            ),
            DecodingErrorCase(#"{"a":{"$geoPoint":{"latitude":"1","longitude":2}}}"#, "a", #"degrees, found the string "1""#),
            DecodingErrorCase(
                #"{"a":{"$geoPoint":{"latitude":{"$double":"NaN"},"longitude":2}}}"#,
                "a",
                "degrees, found an object"
            ),
            DecodingErrorCase(#"{"a":{"$geoPoint":{"latitude":90.5,"longitude":2}}}"#, "a", "-90 to 90"),
            DecodingErrorCase(#"{"a":{"$geoPoint":{"latitude":1,"longitude":-181}}}"#, "a", "-180 to 180"),
            DecodingErrorCase(#"{"a":{"$vector":"0.1"}}"#, "a", "an array of numbers after $vector"),
            DecodingErrorCase(#"{"a":{"$vector":[1.0,"2"]}}"#, "a[1]", #"a number, found the string "2""#),
            DecodingErrorCase(#"{"a":{"$vector":[1.0,{"$double":"inf"}]}}"#, "a[1]", "NaN"),
            DecodingErrorCase(#"{"a":{"$vector":[1.0,[2.0]]}}"#, "a[1]", "a number, found an array"),
            DecodingErrorCase(#"{"a":{"$vector":[99999999999999999999]}}"#, "a[0]", "an integer"),
            DecodingErrorCase(#"{"tags":[1,2,{"color":{"$x":1}}]}"#, "tags[2].color", "known tag"),
            DecodingErrorCase(#"{"a b":{"c":[{"d.e":{"$x":1}}]}}"#, "`a b`.c[0].`d.e`", "known tag"),
            DecodingErrorCase(#"{"$map":{"$a":{"b":{"$x":1}}}}"#, "`$a`.b", "known tag"),
        ]
    )
    func `An error has the field, and what was expected`(invalid: DecodingErrorCase) throws {
        let error = try #require(try error(of: invalid.json))
        #expect(error.code == .invalidArgument)
        #expect(error.field == invalid.field)
        #expect(error.message.contains(invalid.text), "\(error.message)")
        #expect(error.file == nil)
    }

    @Test
    func `The message has the location in the JSON`() throws {
        let error = try #require(try error(of: "{\n  \"é\": 1,\n  \"é2\": [\"é\", 1e999]}"))
        #expect(error.message.contains("(Line 3, column 15, byte 29 of the JSON.)"), "\(error.message)")
    }

    @Test(
        arguments: [
            "A", "AA", "AAA", "AA=", "AAA==", "A===", "====", "=", "AB==", "AAB=", "AA==AA==", "AAAA=", "A A=", "AA==\n", "AA-_",
            "AAÀ",
            "A=AA", "AA=A",
        ]
    )
    func `Non-canonical base64 is rejected`(text: String) throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("$bytes")
        writer.string(text)
        writer.endObject()
        let node = try JSONText(writer.finish()).root
        #expect(throws: StatusError.self) { try Value(json: node) }
    }

    @Test(arguments: ["[", "{\"a\":", "{\"$map\":{\"$a\":"])
    func `At most 20 levels of maps and arrays are decoded`(opening: String) throws {
        let closing = opening == "[" ? "]" : opening == "{\"a\":" ? "}" : "}}"
        func nested(_ depth: Int) throws -> Value {
            let text = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
            return try Value(json: JSONText(text, limits: JSONLimits(maximumDepth: 300_000)).root)
        }
        _ = try nested(DocumentLimits.maximumDepth)
        for depth in [DocumentLimits.maximumDepth + 1, 100_000] {
            let error = #expect(throws: StatusError.self) { try nested(depth) }
            #expect(error?.message.contains("at most 20 nested maps and arrays") == true)
        }
    }

    @Test
    func `The fields of a document may have 20 levels`() throws {
        let value = String(repeating: "{\"a\":", count: 20) + "1" + String(repeating: "}", count: 20)
        let fields = try MapValue(json: JSONText("{\"a\":" + value + "}").root)
        try Document.validate(fields, at: DocumentPath("a/b"))
        #expect(throws: StatusError.self) { try MapValue(json: JSONText("{\"a\":{\"a\":" + value + "}}").root) }
    }

    @Test
    func `A vector has at most 2,048 dimensions`() throws {
        func vector(_ count: Int) throws -> Value {
            let text = "{\"$vector\":[" + repeatElement("1.5", count: count).joined(separator: ",") + "]}"
            return try Value(json: JSONText(text).root)
        }
        #expect(try vector(2_048) == .vector(Array(repeating: 1.5, count: 2_048)))
        #expect(throws: StatusError.self) { try vector(2_049) }
    }

    @Test(
        arguments: [
            ("[", "null,", 2_097_152, "]"), ("[", "1,", 262_144, "]"), ("[", "{},", 2_097_152, "]"), ("[", "[],", 2_097_152, "]"),
            ("[", "{\"a\":1},", 209_715, "]"),
        ]
    )
    func `Decoding stops at twice the maximum document size`(opening: String, element: String, count: Int, closing: String) throws
    {
        func read(_ count: Int) throws -> Value {
            // The last element is invalid, which is detected only if it is reached.
            let text = opening + String(repeating: element, count: count) + "{\"$x\":1}" + closing
            return try Value(json: JSONText(text).root)
        }
        let reached = #expect(throws: StatusError.self) { try read(count) }
        #expect(reached?.message.contains("known tag") == true)
        let stopped = #expect(throws: StatusError.self) { try read(count + 1) }
        #expect(stopped?.message.contains("at most 1048576 bytes, found more than twice") == true, "\(stopped?.message ?? "")")
        #expect(stopped?.field?.utf8.starts(with: "[\(count)]".utf8) == true, "\(stopped?.field ?? "")")
    }
}
