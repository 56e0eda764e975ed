internal import StrictJSON

/// A JSON value that has not the form of what it stands for, and where it is in its text.
///
/// The error's field is relative to the value being read and grows outwards while the reader leaves maps and arrays.
struct JSONFormFault: Error {
    private(set) var error: StatusError
    let node: JSONNode

    init(_ node: JSONNode, _ message: String) {
        self.init(node, StatusError(.invalidArgument, message))
    }

    init(_ node: JSONNode, _ error: StatusError) {
        self.error = error
        self.node = node
    }

    /// A node that is of another kind than expected.
    init(_ node: JSONNode, expected: String) {
        self.init(node, "Expected \(expected), found \(node.summary).")
    }

    func inside(field name: UTF8Key) -> JSONFormFault {
        JSONFormFault(node, error.inside(field: name))
    }

    func inside(element index: Int) -> JSONFormFault {
        JSONFormFault(node, error.inside(element: index))
    }

    /// The error for a caller who sent the text and can count in it.
    var located: StatusError {
        var error = error
        let (line, column) = node.position()
        let place = StatusError.TextPlace(line: line, column: column, offset: node.offset)
        error.textPlace = place
        error.message += place.note
        return error
    }
}

extension JSONNode {
    /// What the node is, for a message: scalars as they are, cut where they are long.
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
