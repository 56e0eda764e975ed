import HearthAPI
import Testing
import UTF8Text

@Suite("Value round trip") struct RPCValueRoundTripTests {
    @Test(
        arguments: [
            "9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "1.0", "-0.0", "1e+300", "5e-324",
            #"{"$double":"NaN"}"#, #"{"$double":"Infinity"}"#, #"{"$double":"-Infinity"}"#, "null", "true",
            #""\u0000\u001f""#, "\"a\u{2028}b\u{2029}c\u{85}\"", #""line\r\nline""#, "\"😀𝒳\u{10ffff}\"",
            "\"é e\u{301} \u{212b}\"", "\"\u{202e}rtl\u{feff}\"", #"{"$bytes":"AP+/"}"#,
            #"{"$timestamp":"0001-01-01T00:00:00.000000Z"}"#,
            #"{"$timestamp":"9999-12-31T23:59:59.999999Z"}"#, #"{"$reference":"books/\"x\""}"#, #"{"$vector":[1.0,-0.0,0.1]}"#,
            #"{"$geoPoint":{"latitude":-0.0,"longitude":180.0}}"#, #"{"$map":{"$bytes":"no bytes"}}"#, "[]", "{}",
            #"[{"a":[1]},null]"#, "{\"e\u{301}\":2,\"é\":1}",
        ]
    )
    func `A stored value is returned unchanged`(value: String) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {"value": \#(value)}]"#)
            let fields = try #require(try await service.member("fields", of: "documents.get", #"["a/b"]"#))
            #expect(UTF8Key(fields) == UTF8Key(#"{"value":\#(value)}"#))
        }
    }
}
