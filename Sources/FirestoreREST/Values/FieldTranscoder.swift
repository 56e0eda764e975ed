import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON

/// A transcoder from the stored JSON form of document fields to the protocol's JSON, byte by byte and without building values.
///
/// It relies on the canonical form that Hearth writes: no whitespace, a fraction or exponent only in doubles, and the same string
/// escapes as in the output. Only tagged values, such as timestamps, are decoded.
struct FieldTranscoder {
    private let source: UnsafeBufferPointer<UInt8>
    private let database: DatabaseName
    private var position = 0
    private var result: [UInt8] = []

    /// The error for input that is not in the canonical form.
    struct InvalidEncoding: Error {
        let position: Int
    }

    /// Returns the protocol's `fields` object, or `nil` if the document has no fields.
    static func transcode(_ json: [UInt8], in database: DatabaseName) throws -> [UInt8]? {
        try json.withUnsafeBufferPointer { source in
            var transcoder = FieldTranscoder(source: source, database: database)
            return try transcoder.fields()
        }
    }

    private init(source: UnsafeBufferPointer<UInt8>, database: DatabaseName) {
        self.source = source
        self.database = database
        result.reserveCapacity(2 * source.count + 64)
    }

    private mutating func fields() throws -> [UInt8]? {
        // Fields with a name that begins with $ are wrapped in a $map tag.
        let isWrapped = source.starts(with: Self.wrapperStart)
        if isWrapped { position = Self.wrapperStart.count }
        try expect(UInt8(ascii: "{"))
        let isEmpty = next == UInt8(ascii: "}")
        try members()
        if isWrapped { try expect(UInt8(ascii: "}")) }
        guard position == source.count else { throw invalidEncoding }
        return isEmpty ? nil : result
    }

    private static let wrapperStart = Array(#"{"$map":"#.utf8)
}

extension FieldTranscoder {
    private var invalidEncoding: InvalidEncoding { InvalidEncoding(position: position) }

    /// The next byte; 0, which is invalid in JSON, at the end.
    private var next: UInt8 { position < source.count ? source[position] : 0 }

    private mutating func expect(_ byte: UInt8) throws {
        guard next == byte else { throw invalidEncoding }
        position += 1
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { result.append(contentsOf: $0) }
    }

    /// Copies the source bytes from `start` to the current position.
    private mutating func copy(from start: Int) {
        result.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<position]))
    }

    /// Transcodes the members of an object after its opening brace, and consumes the closing one.
    private mutating func members() throws {
        append("{")
        if next != UInt8(ascii: "}") {
            while true {
                let start = position
                try skipString()
                try expect(UInt8(ascii: ":"))
                copy(from: start)
                try value()
                guard next == UInt8(ascii: ",") else { break }
                position += 1
                append(",")
            }
        }
        try expect(UInt8(ascii: "}"))
        append("}")
    }

    /// Transcodes a value. Recursion is bounded by the nesting limit of documents.
    private mutating func value() throws {
        switch next {
        case UInt8(ascii: "\""):
            append(#"{"stringValue":"#)
            let start = position
            try skipString()
            copy(from: start)
            append("}")
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): try literal("{\"booleanValue\":")
        case UInt8(ascii: "n"): try literal("{\"nullValue\":")
        default: try number()
        }
    }

    private mutating func object() throws {
        let start = position
        position += 1
        if next == UInt8(ascii: "\""), position + 1 < source.count, source[position + 1] == UInt8(ascii: "$") {
            return try taggedValue(from: start)
        }
        guard next != UInt8(ascii: "}") else {
            position += 1
            return append(#"{"mapValue":{}}"#)
        }
        append(#"{"mapValue":{"fields":"#)
        try members()
        append("}}")
    }

    private mutating func array() throws {
        position += 1
        guard next != UInt8(ascii: "]") else {
            position += 1
            return append(#"{"arrayValue":{}}"#)
        }
        append(#"{"arrayValue":{"values":["#)
        while true {
            try value()
            guard next == UInt8(ascii: ",") else { break }
            position += 1
            append(",")
        }
        try expect(UInt8(ascii: "]"))
        append("]}}")
    }

    /// Transcodes a tagged value, by decoding it.
    private mutating func taggedValue(from start: Int) throws {
        var depth = 1
        while depth > 0 {
            switch next {
            case 0: throw invalidEncoding
            case UInt8(ascii: "\""):
                try skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
        }
        let json = Array(UnsafeBufferPointer(rebasing: source[start..<position]))
        var writer = JSONWriter(reservingCapacity: 2 * json.count + 64)
        writer.write(try Value(json: JSONText(json, limits: .message).root), in: database)
        result.append(contentsOf: writer.finish())
    }

    private mutating func number() throws {
        let start = position
        var isDouble = false
        scan: while true {
            switch next {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isDouble = true
            default: break scan
            }
            position += 1
        }
        guard position > start else { throw invalidEncoding }
        if isDouble { append(#"{"doubleValue":"#) } else { append(#"{"integerValue":""#) }
        copy(from: start)
        if isDouble { append("}") } else { append("\"}") }
    }

    /// Copies `true`, `false` or `null`.
    private mutating func literal(_ prefix: StaticString) throws {
        append(prefix)
        let start = position
        while (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(next) { position += 1 }
        copy(from: start)
        append("}")
    }

    /// Skips a string.
    private mutating func skipString() throws {
        try expect(UInt8(ascii: "\""))
        while position < source.count {
            let byte = source[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            // An escaped character, such as a quotation mark, does not end the string.
            if byte == UInt8(ascii: "\\") { position += 1 }
        }
        throw invalidEncoding
    }
}
