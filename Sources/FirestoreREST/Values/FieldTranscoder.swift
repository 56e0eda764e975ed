import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON

/// A transcoder from the stored JSON form of document fields to the protocol's JSON, byte by byte and without building values.
///
/// It relies on the canonical form that Hearth writes: no whitespace, a fraction or exponent only in doubles, and the same string
/// escapes as in the output. Only tagged values, such as timestamps, are decoded.
struct FieldTranscoder {
    private let database: DatabaseName
    private var json: CompactJSONCursor
    private var result: [UInt8] = []

    /// Returns the protocol's `fields` object, or `nil` if the document has no fields.
    ///
    /// - Throws: ``CompactJSONCursor/InvalidText`` for input that is not in the canonical form, or the error of a tagged value.
    static func transcode(_ json: [UInt8], in database: DatabaseName) throws -> [UInt8]? {
        try json.withUnsafeBufferPointer { source in
            var transcoder = FieldTranscoder(CompactJSONCursor(source), in: database)
            transcoder.result.reserveCapacity(2 * source.count + 64)
            return try transcoder.fields()
        }
    }

    private init(_ json: CompactJSONCursor, in database: DatabaseName) {
        self.json = json
        self.database = database
    }

    private mutating func fields() throws -> [UInt8]? {
        // Fields with a name that begins with $ are wrapped in a $map tag.
        let isWrapped = json.skip(#"{"$map":"#)
        try json.open(UInt8(ascii: "{"))
        let isEmpty = json.next == UInt8(ascii: "}")
        try members()
        if isWrapped { try json.expect(UInt8(ascii: "}")) }
        guard json.isAtEnd else { throw json.failure }
        return isEmpty ? nil : result
    }
}

extension FieldTranscoder {
    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { result.append(contentsOf: $0) }
    }

    /// Copies the source bytes from `start` to the current position.
    private mutating func copy(from start: Int) {
        result.append(contentsOf: json.bytes(from: start))
    }

    /// Transcodes the members of an object after its opening brace, and consumes the closing one.
    private mutating func members() throws {
        append("{")
        if json.next != UInt8(ascii: "}") {
            while true {
                let start = json.position
                _ = try json.string()
                try json.expect(UInt8(ascii: ":"))
                copy(from: start)
                try value()
                guard json.skip(UInt8(ascii: ",")) else { break }
                append(",")
            }
        }
        try json.close(UInt8(ascii: "}"))
        append("}")
    }

    /// Transcodes a value. Recursion is bounded by the nesting limit of documents.
    private mutating func value() throws {
        switch json.next {
        case UInt8(ascii: "\""):
            append(#"{"stringValue":"#)
            let start = json.position
            _ = try json.string()
            copy(from: start)
            append("}")
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        default:
            if json.skip("true") {
                append(#"{"booleanValue":true}"#)
            } else if json.skip("false") {
                append(#"{"booleanValue":false}"#)
            } else if json.skip("null") {
                append(#"{"nullValue":null}"#)
            } else {
                try number()
            }
        }
    }

    private mutating func object() throws {
        if json.starts(with: #"{"$"#) { return try taggedValue() }
        try json.open(UInt8(ascii: "{"))
        guard !json.closes(UInt8(ascii: "}")) else { return append(#"{"mapValue":{}}"#) }
        append(#"{"mapValue":{"fields":"#)
        try members()
        append("}}")
    }

    private mutating func array() throws {
        try json.open(UInt8(ascii: "["))
        guard !json.closes(UInt8(ascii: "]")) else { return append(#"{"arrayValue":{}}"#) }
        append(#"{"arrayValue":{"values":["#)
        while true {
            try value()
            guard json.skip(UInt8(ascii: ",")) else { break }
            append(",")
        }
        try json.close(UInt8(ascii: "]"))
        append("]}}")
    }

    /// Transcodes a tagged value, by decoding it.
    private mutating func taggedValue() throws {
        let start = json.position
        try json.skipContainer()
        let source = Array(json.bytes(from: start))
        var writer = JSONWriter(reservingCapacity: 2 * source.count + 64)
        writer.write(try Value(json: JSONText(source, limits: .message).root), in: database)
        result.append(contentsOf: writer.finish())
    }

    private mutating func number() throws {
        let start = json.position
        let isDouble = try json.skipNumber()
        if isDouble { append(#"{"doubleValue":"#) } else { append(#"{"integerValue":""#) }
        copy(from: start)
        if isDouble { append("}") } else { append("\"}") }
    }
}
