internal import HearthAPI
internal import JSONRPC
internal import StrictJSON
internal import UTF8Text

extension FuzzedInput {
    /// Valid inputs to start from.
    package var seeds: [[UInt8]] {
        switch self {
        case .json: Self.texts
        case .file: Self.files
        case .body: Self.bodies
        case .query: Self.queries
        case .firestore: Self.firestoreRequests
        case .webChannel: Self.webChannelForms
        case .path: Self.paths
        case .token: Self.tokens
        }
    }

    /// Tokens that mutations insert.
    package static let dictionary: [[UInt8]] =
        [
            "null", "true", "0", "-0", "1e400", "1.0", "9223372036854775807", "9223372036854775808", #""""#, #""\ud800""#,
            #""\u0000""#, "[]", "{}", "[[]]", #"{"$double":"NaN"}"#, #"{"$map":{"$a":1}}"#, #"{"$x":1}"#, #"{"$bytes":"="}"#,
            #"{"$geoPoint":{"latitude":91,"longitude":0}}"#, #"{"$timestamp":"0000-01-01T00:00:00Z"}"#, #"{"$vector":[1]}"#,
            #"{"$reference":"a"}"#, #""__name__""#, #""../x""#, #"{"and":[]}"#, #"{"field":"a","op":"in","value":[]}"#, "/", ".",
            "..", "__", "`", "\\", "\u{0}", "\u{2028}", "e\u{301}", "😀", "%2F", "-", "_", "=", "fsk_", "Z", "+00:00", ",", ":",
            "[", "]", "{", "}", "\"", "\"a\":",
        ].map { Array($0.utf8) } + [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf]]

    private static let texts = [
        #"{"a\u0062\ud83d\udca9":[1, -2.5e+3, 0.0e-0,true ,false, null],"é̂":{"":"\"\\\/\b\f\n\r\t"},"x":[[],{}]}"#,
        #"{"d":{"$double":"-Infinity"},"t":{"$timestamp":"1843-01-01T16:58:32.5Z"},"b":{"$bytes":"AAEC"},"r":{"$reference":"a/b"}}"#,
        #"{"g":{"$geoPoint":{"latitude":53.5,"longitude":-9.9}},"v":{"$vector":[0.1,2]},"m":{"$map":{"$x":{"a":[1]}}}}"#,
    ].map { Array($0.utf8) }

    private static let files = texts.map { text in
        let metadata =
            #","$document":{"id":"b","createTime":"2024-02-29T12:00:00.000000Z","updateTime":"2024-02-29T12:00:00.000001Z"}}"#
        return text.dropLast() + Array(metadata.utf8)
    }

    private static let examples = HearthMethods.table.methods.flatMap { method in
        method.examples.map { (method: method.name, params: Array($0.params.root.rawBytes)) }
    }

    private static let bodies = examples.map { example in
        Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(example.method)","params":"#.utf8) + example.params + Array("}".utf8)
    }

    private static let queries = examples.filter { $0.method == "query.run" || $0.method == "query.explain" }.map(\.params)

    private static let paths = [
        "books", "books/hitchhiker", "books/hitchhiker/reviews", "a.b.c", "`a.b`.c", "__name__", "__id7__", "größe",
        String(repeating: "a/b/", count: 49) + "c",
    ].map { Array($0.utf8) }

    private static let tokens = [
        "AjJIxbnGhH4wAAAAAAAAAAMABhJ8q-MwAB6DyA8i7_IM", "AWhpdGNoaGlrZXI", "2024-02-29T12:00:00.000001Z",
        "1969-12-31T23:59:59.9+01:00", "fsk_5f0c1e9ab3d2_" + String(repeating: "0f", count: 32),
    ].map { Array($0.utf8) }
}
