internal import StrictJSON
internal import UTF8Text

/// An error in the JSON representation of a value, with the JSON node that caused it.
///
/// The error's field is relative to the value being decoded, and is extended outward while the error propagates through maps
/// and arrays.
struct ValueDecodingError: Error {
    private(set) var error: StatusError
    let node: JSONNode

    init(_ node: JSONNode, _ message: String) {
        self.init(node, StatusError(.invalidArgument, message))
    }

    init(_ node: JSONNode, _ error: StatusError) {
        self.error = error
        self.node = node
    }

    /// Creates an error for a node of an unexpected kind.
    init(_ node: JSONNode, expected: String) {
        self.init(node, "Expected \(expected), found \(node.summary).")
    }

    func inside(field name: UTF8Key) -> ValueDecodingError {
        ValueDecodingError(node, error.inside(field: name))
    }

    func inside(element index: Int) -> ValueDecodingError {
        ValueDecodingError(node, error.inside(element: index))
    }

    /// The error with its location in the JSON text.
    var located: StatusError {
        var error = error
        let (line, column) = node.position()
        let location = StatusError.SourceLocation(line: line, column: column, offset: node.offset)
        error.sourceLocation = location
        error.message += location.messageSuffix
        return error
    }
}

extension JSONNode {
    /// A description for error messages: scalars literally, but truncated if long, and containers by kind.
    var summary: String {
        switch kind {
        case .null: "null"
        case .boolean, .number: String(decoding: rawBytes.prefix(40), as: UTF8.self) + (rawBytes.count > 40 ? "…" : "")
        case .string: string.map { "the string \(Excerpt($0))" } ?? "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
