import DocumentModel
import StrictJSON
import Testing

/// A faulty text, the place that its error must name, and a part of what it must say.
struct FaultCase: CustomTestStringConvertible, Sendable {
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

@Suite("Faults in the JSON form of a value")
struct JSONFormErrorTests {
    private func refusal(of json: String) throws -> StatusError? {
        let node = try JSONText(json).root
        do throws(StatusError) {
            _ = try MapValue(json: node)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Each fault is an invalid argument that names its place and what was expected",
        arguments: [
            FaultCase("[]", nil, "an object of fields, found an array"),
            FaultCase("null", nil, "an object of fields, found null"),
            FaultCase(
                #"{"$timestamp":"2014-09-09T08:00:47Z"}"#,
                nil,
                "an object of fields, found a single value tagged $timestamp"
            ),
            FaultCase(#"{"$price":1}"#, nil, "known tag"),
            FaultCase(#"{"$price":1}"#, nil, #"write it as {"$map": {…}}"#),
            FaultCase(#"{"$map":[]}"#, nil, "an object after $map, found an array"),
            FaultCase(#"{"a":{"$map":1}}"#, "a", "an object after $map, found 1"),
            FaultCase(#"{"a":{"$map":{},"b":1}}"#, "a", "the tag $map to be the only member"),
            FaultCase(#"{"a":{"b":1,"$bytes":""}}"#, "a", "the tag $bytes to be the only member"),
            FaultCase(#"{"a":{"b":1,"$c":""}}"#, "a", "known tag"),
            FaultCase(#"{"a":{"$Timestamp":"2014-09-09T08:00:47Z"}}"#, "a", #"found "$Timestamp""#),
            FaultCase(#"{"a":9223372036854775808}"#, "a", "an integer from -9223372036854775808"),
            FaultCase(#"{"a":-9223372036854775809}"#, "a", "found -9223372036854775809"),
            FaultCase(#"{"a":1e400}"#, "a", #"{"$double": "Infinity"}"#),
            FaultCase(#"{"a":{"$double":"nan"}}"#, "a", #"found the string "nan""#),
            FaultCase(#"{"a":{"$double":1.5}}"#, "a", "found 1.5"),
            FaultCase(#"{"a":{"$double":null}}"#, "a", "found null"),
            FaultCase(#"{"a":{"$timestamp":1410249647}}"#, "a", "RFC 3339 form after $timestamp"),
            FaultCase(#"{"a":{"$timestamp":"2014-09-09"}}"#, "a", "RFC 3339"),
            FaultCase(#"{"a":{"$timestamp":"2014-02-30T00:00:00Z"}}"#, "a", "does not exist"),
            FaultCase(#"{"a":{"$bytes":[1]}}"#, "a", "a string in base64 after $bytes, found an array"),
            FaultCase(#"{"a":{"$reference":"books"}}"#, "a", "document path"),
            FaultCase(#"{"a":{"$reference":"books/../x"}}"#, "a", ".."),
            FaultCase(#"{"a":{"$reference":{}}}"#, "a", "after $reference"),
            FaultCase(#"{"a":{"$geoPoint":[53,9]}}"#, "a", "exactly latitude and longitude"),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":1}}}"#, "a", "exactly latitude and longitude"),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":1,"longitude":2,"altitude":3}}}"#, "a", "exactly latitude and longitude"),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":"1","longitude":2}}}"#, "a", #"degrees, found the string "1""#),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":{"$double":"NaN"},"longitude":2}}}"#, "a", "degrees, found an object"),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":90.5,"longitude":2}}}"#, "a", "-90 to 90"),
            FaultCase(#"{"a":{"$geoPoint":{"latitude":1,"longitude":-181}}}"#, "a", "-180 to 180"),
            FaultCase(#"{"a":{"$vector":"0.1"}}"#, "a", "an array of numbers after $vector"),
            FaultCase(#"{"a":{"$vector":[1.0,"2"]}}"#, "a[1]", #"a number, found the string "2""#),
            FaultCase(#"{"a":{"$vector":[1.0,{"$double":"inf"}]}}"#, "a[1]", "NaN"),
            FaultCase(#"{"a":{"$vector":[1.0,[2.0]]}}"#, "a[1]", "a number, found an array"),
            FaultCase(#"{"a":{"$vector":[99999999999999999999]}}"#, "a[0]", "an integer"),
            FaultCase(#"{"tags":[1,2,{"color":{"$x":1}}]}"#, "tags[2].color", "known tag"),
            FaultCase(#"{"a b":{"c":[{"d.e":{"$x":1}}]}}"#, "`a b`.c[0].`d.e`", "known tag"),
            FaultCase(#"{"$map":{"$a":{"b":{"$x":1}}}}"#, "`$a`.b", "known tag"),
        ]
    )
    func fault(fault: FaultCase) throws {
        let error = try #require(try refusal(of: fault.json))
        #expect(error.code == .invalidArgument)
        #expect(error.field == fault.field)
        #expect(error.message.contains(fault.text), "\(error.message)")
        #expect(error.file == nil)
    }

    @Test("The text says where in the JSON the fault is")
    func place() throws {
        let error = try #require(try refusal(of: "{\n  \"é\": 1,\n  \"é2\": [\"é\", 1e999]}"))
        #expect(error.message.contains("(Line 3, column 15, byte 29 of the JSON.)"), "\(error.message)")
    }

    @Test(
        "Base64 that isn't canonical is refused",
        arguments: [
            "A", "AA", "AAA", "AA=", "AAA==", "A===", "====", "=", "AB==", "AAB=", "AA==AA==", "AAAA=", "A A=", "AA==\n", "AA-_",
            "AAÀ",
            "A=AA", "AA=A",
        ]
    )
    func base64(text: String) throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("$bytes")
        writer.string(text)
        writer.endObject()
        let node = try JSONText(writer.finish()).root
        #expect(throws: StatusError.self) { try Value(json: node) }
    }

    @Test("Twenty levels of maps and arrays are read, and no more", arguments: ["[", "{\"a\":", "{\"$map\":{\"$a\":"])
    func depth(opening: String) throws {
        let closing = opening == "[" ? "]" : opening == "{\"a\":" ? "}" : "}}"
        func nested(_ depth: Int) throws -> Value {
            let text = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
            return try Value(json: JSONText(text, limits: JSONLimits(maximumDepth: 300_000)).root)
        }
        _ = try nested(DocumentLimits.maximumDepth)
        for depth in [DocumentLimits.maximumDepth + 1, 100_000] {
            let error = #expect(throws: StatusError.self) { try nested(depth) }
            #expect(error?.message.contains("at most 20 maps and arrays") == true)
        }
    }

    @Test("The fields of a document may hold twenty levels below them")
    func depthOfFields() throws {
        let value = String(repeating: "{\"a\":", count: 20) + "1" + String(repeating: "}", count: 20)
        let fields = try MapValue(json: JSONText("{\"a\":" + value + "}").root)
        try Document.validate(fields, at: DocumentPath("a/b"))
        #expect(throws: StatusError.self) { try MapValue(json: JSONText("{\"a\":{\"a\":" + value + "}}").root) }
    }

    @Test("A vector may have 2,048 dimensions and no more")
    func dimensions() throws {
        func vector(_ count: Int) throws -> Value {
            let text = "{\"$vector\":[" + repeatElement("1.5", count: count).joined(separator: ",") + "]}"
            return try Value(json: JSONText(text).root)
        }
        #expect(try vector(2_048) == .vector(Array(repeating: 1.5, count: 2_048)))
        #expect(throws: StatusError.self) { try vector(2_049) }
    }

    @Test(
        "Reading stops at the first value that no document has room for",
        arguments: [
            ("[", "null,", 2_097_152, "]"), ("[", "1,", 262_144, "]"), ("[", "{},", 2_097_152, "]"), ("[", "[],", 2_097_152, "]"),
            ("[", "{\"a\":1},", 209_715, "]"),
        ]
    )
    func room(opening: String, element: String, count: Int, closing: String) throws {
        func read(_ count: Int) throws -> Value {
            // What comes last can't be read, which shows only where it is come to.
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
