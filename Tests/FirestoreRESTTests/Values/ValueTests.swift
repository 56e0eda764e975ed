import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FuzzedInputs
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@testable import FirestoreREST

/// Values in ProtoJSON form.
@Suite struct ValueTests {
    private static let database = DatabaseName(.standard)

    @Test(
        arguments: [
            (#"{"nullValue":null}"#, #"{"nullValue":null}"#),
            (#"{"nullValue":0}"#, #"{"nullValue":null}"#),
            (#"{"nullValue":"NULL_VALUE"}"#, #"{"nullValue":null}"#),
            (#"{"boolean_value":true}"#, #"{"booleanValue":true}"#),
            (#"{"integerValue":"-9223372036854775808"}"#, #"{"integerValue":"-9223372036854775808"}"#),
            (#"{"integerValue":816}"#, #"{"integerValue":"816"}"#),
            (#"{"integerValue":8.16e2}"#, #"{"integerValue":"816"}"#),
            (#"{"doubleValue":3}"#, #"{"doubleValue":3.0}"#),
            (#"{"doubleValue":-0.0}"#, #"{"doubleValue":-0.0}"#),
            (#"{"doubleValue":"1.5e300"}"#, #"{"doubleValue":1.5e+300}"#),
            (#"{"doubleValue":100000000000000000000}"#, #"{"doubleValue":1e+20}"#),
            (#"{"doubleValue":"NaN"}"#, #"{"doubleValue":"NaN"}"#),
            (#"{"doubleValue":"-Infinity"}"#, #"{"doubleValue":"-Infinity"}"#),
            (#"{"timestampValue":"2014-09-09T10:00:47.1234567+02:00"}"#, #"{"timestampValue":"2014-09-09T08:00:47.123456Z"}"#),
            (#"{"stringValue":"é\u2028\"\\\u0000"}"#, "{\"stringValue\":\"é\u{2028}\\\"\\\\\\u0000\"}"),
            (#"{"bytesValue":"+/8="}"#, #"{"bytesValue":"+/8="}"#),
            (#"{"bytesValue":"-_8"}"#, #"{"bytesValue":"+/8="}"#),
            (#"{"bytesValue":""}"#, #"{"bytesValue":""}"#),
            (
                #"{"referenceValue":"projects/hearth/databases/(default)/documents/a/b"}"#,
                #"{"referenceValue":"projects/hearth/databases/(default)/documents/a/b"}"#
            ),
            (#"{"geoPointValue":{"latitude":53.5}}"#, #"{"geoPointValue":{"latitude":53.5,"longitude":0.0}}"#),
            (#"{"arrayValue":{}}"#, #"{"arrayValue":{}}"#),
            (#"{"arrayValue":{"values":[{"integerValue":1}]}}"#, #"{"arrayValue":{"values":[{"integerValue":"1"}]}}"#),
            (#"{"mapValue":{"fields":null}}"#, #"{"mapValue":{}}"#),
            (
                #"{"mapValue":{"fields":{"$timestamp":{"stringValue":"x"}}}}"#,
                #"{"mapValue":{"fields":{"$timestamp":{"stringValue":"x"}}}}"#
            ),
            (
                #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"integerValue":1}]}}}}}"#,
                #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1.0}]}}}}}"#
            ),
        ]
    )
    func `Every valid form of a value is decoded and encoded in one canonical form`(sent: String, received: String) throws {
        let value = try Value(JSONText(sent).root, in: Self.database)
        var writer = JSONWriter()
        writer.write(value, in: Self.database)
        #expect(String(decoding: writer.finish(), as: UTF8.self) == received)
        // Transcoding the stored form has the same result.
        #expect(try Self.fields(["v": value]) == #"{"v":\#(received)}"#)
    }

    @Test(arguments: ["$map", "$timestamp", "$x"])
    func `Field names that begin with $ are kept`(name: String) throws {
        #expect(try Self.fields([UTF8Key(name): .boolean(true)]) == #"{"\#(name)":{"booleanValue":true}}"#)
        let inner: Value = .map([UTF8Key(name): .map([:])])
        #expect(
            try Self.fields(["$a": inner, "b": .null])
                == #"{"$a":{"mapValue":{"fields":{"\#(name)":{"mapValue":{}}}}},"b":{"nullValue":null}}"#
        )
    }

    @Test
    func `Transcoding stored fields equals encoding their values, for all characters in strings`() throws {
        let texts = ["", "\"", "\\", "\\\"", "{\"a\":[1]}", "]}", ",:", "\u{0}\n", "$x", "é\u{2028}"]
        var fields = MapValue()
        for (index, text) in texts.enumerated() {
            fields[UTF8Key("f\(index)\(text)")] = .map([
                UTF8Key("\(index)" + text): .array([
                    .string(text), .map([UTF8Key("k" + text): .null]), .map([:]), .boolean(false),
                ])
            ])
        }
        fields["numbers"] = .array([
            .integer(-1), .integer(.min), .double(-0.0), .double(1e-300), .double(.infinity), .boolean(true),
        ])
        fields["tagged"] = .array([
            .timestamp(.minimum), .bytes([0, 255]), .vector([1, .nan]),
            .map(["$a": .string("]}"), "b": .map(["$c": .array([])])]),
            .reference(try DocumentPath("a/\"]}")), .geoPoint(try GeoPoint(validatingLatitude: 1, longitude: 2)),
        ])
        var writer = JSONWriter()
        writer.write(.map(fields), in: Self.database)
        let written = String(decoding: writer.finish(), as: UTF8.self)
        let stored = try #require(try Self.fields(fields))
        #expect(#"{"mapValue":{"fields":\#(stored)}}"# == written)
    }

    @Test(
        arguments: [#"{"a":1"#, #"{"a":"#, #"{"a"#, "", "[1]", #"{"a":{"$bytes":"#, #"{"a":?}"#, #"{"a":1}}"#, #"{"a":"x\"#]
    )
    func `Truncated or invalid stored fields are rejected`(json: String) {
        #expect(throws: (any Error).self) { try FieldTranscoder.transcode(Array(json.utf8), in: Self.database) }
    }

    @Test("A document without fields has no `fields` member")
    func noFields() throws {
        #expect(try Self.fields([:]) == nil)
    }

    /// Returns the encoded `fields` of a document.
    private static func fields(_ fields: MapValue) throws -> String? {
        let document = Document(path: try DocumentPath("c/d"), fields: fields, createTime: .minimum, updateTime: .minimum)
        var writer = JSONWriter()
        try writer.write(EncodedDocument(document), in: database)
        let root = try JSONText(writer.finish()).root
        #expect(root["name"]?.string == "projects/hearth/databases/(default)/documents/c/d")
        return root["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
    }

    @Test(
        arguments: [
            (#"{}"#, "field v"), (#"{"stringValue":"a","integerValue":1}"#, "field v"), (#""text""#, "field v"),
            (#"{"textValue":"a"}"#, "textValue"), (#"{"integerValue":"1.5"}"#, "64-bit"), (#"{"integerValue":"+5"}"#, "64-bit"),
            (#"{"integerValue":9223372036854775808}"#, "64-bit"), (#"{"doubleValue":"nan"}"#, "NaN"),
            (#"{"doubleValue":"0x1p3"}"#, "double"), (#"{"booleanValue":"true"}"#, "true or false"),
            (#"{"timestampValue":"yesterday"}"#, "RFC 3339"),
            // The form of bundles.
            (#"{"timestampValue":{"seconds":"1","nanos":0}}"#, "RFC 3339"), (#"{"bytesValue":"***"}"#, "base64"),
            (#"{"referenceValue":"a/b"}"#, "name of a document"),
            (#"{"referenceValue":"projects/q/databases/(default)/documents/a/b"}"#, "in this database"),
            (#"{"geoPointValue":{"latitude":91}}"#, "latitude"),
            (#"{"arrayValue":{"values":[{"stringValue":7}]}}"#, "field v[0]"),
            (#"{"arrayValue":{"values":[{"arrayValue":{}}]}}"#, "directly"),
            (#"{"mapValue":{"fields":{"a.b":{"stringValue":7}}}}"#, "field v.`a.b`"),
            (#"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"}}}}"#, "__vector__"),
            (#"{"mapValue":{"fields":{"__type__":{"stringValue":"other"}}}}"#, "reserved"),
        ]
    )
    func `An invalid value is rejected with its location`(value: String, hint: String) throws {
        let fields = try JSONText(#"{"v":\#(value)}"#).root
        let error = #expect(throws: StatusError.self) {
            try Document.validate(MapValue(fields: fields, in: Self.database), at: DocumentPath("c/d"))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.messageWithLocation.contains(hint) == true, "\(error?.messageWithLocation ?? "")")
    }

    @Test(arguments: [20, 21, 200])
    func `Values up to the maximum depth are accepted`(levels: Int) async throws {
        let value =
            String(repeating: #"{"mapValue":{"fields":{"m":"#, count: levels) + #"{"nullValue":null}"#
            + String(repeating: "}}}", count: levels)
        let call = try FirestoreCall(.post, path: "/v1/projects/hearth/databases/d/documents/c".utf8, parameters: [])
        let error = await #expect(throws: StatusError.self) {
            _ = try await call.respond(
                to: Array(#"{"fields":{"v":\#(value)}}"#.utf8),
                in: ServiceContext(store: ReadOnlyEmptyStore())
            )
        }
        // A valid request reaches the read-only store.
        #expect(error?.code == (levels == 20 ? .unavailable : .invalidArgument))
    }
}
