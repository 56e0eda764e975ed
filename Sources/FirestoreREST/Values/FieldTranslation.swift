import DocumentModel
import StrictJSON

/// Makes of fields as documents keep them, Hearth's own JSON, the protocol's JSON, byte by byte and without building values.
///
/// A document's bytes were written by Hearth: there are no blanks in them, an integer has neither fraction nor exponent and a
/// double has one, and strings are escaped as they are here. Only what is tagged, such as a timestamp, is read as a value.
struct FieldTranslation {
    private let source: UnsafeBufferPointer<UInt8>
    private let database: DatabaseName
    private var position = 0
    private var result: [UInt8] = []

    /// The bytes are not those of an encoded document.
    struct Fault: Error {
        let position: Int
    }

    /// The protocol's object of a document's fields; nil when it has none.
    static func fields(ofJSON json: [UInt8], in database: DatabaseName) throws -> [UInt8]? {
        try json.withUnsafeBufferPointer { source in
            var translation = FieldTranslation(source: source, database: database)
            return try translation.fields()
        }
    }

    private init(source: UnsafeBufferPointer<UInt8>, database: DatabaseName) {
        self.source = source
        self.database = database
        result.reserveCapacity(2 * source.count + 64)
    }

    private mutating func fields() throws -> [UInt8]? {
        // What stands around fields of which a name begins with $.
        let isWrapped = source.starts(with: Self.wrapperStart)
        if isWrapped { position = Self.wrapperStart.count }
        try expect(UInt8(ascii: "{"))
        let isEmpty = next == UInt8(ascii: "}")
        try members()
        if isWrapped { try expect(UInt8(ascii: "}")) }
        guard position == source.count else { throw fault }
        return isEmpty ? nil : result
    }

    private static let wrapperStart = Array(#"{"$map":"#.utf8)
}

extension FieldTranslation {
    private var fault: Fault { Fault(position: position) }

    /// The next byte; 0, which is in no JSON, at the end.
    private var next: UInt8 { position < source.count ? source[position] : 0 }

    private mutating func expect(_ byte: UInt8) throws {
        guard next == byte else { throw fault }
        position += 1
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { result.append(contentsOf: $0) }
    }

    /// Takes over the bytes up to here as they are.
    private mutating func copy(from start: Int) {
        result.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<position]))
    }

    /// Translates the members of an object, behind its opening bracket, and takes the closing one.
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

    /// Translates a value. The depth of the recursion is that of a document.
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

    /// Translates what stands for another value than the map that it looks like, by way of that value.
    private mutating func taggedValue(from start: Int) throws {
        var depth = 1
        while depth > 0 {
            switch next {
            case 0: throw fault
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
        guard position > start else { throw fault }
        if isDouble { append(#"{"doubleValue":"#) } else { append(#"{"integerValue":""#) }
        copy(from: start)
        if isDouble { append("}") } else { append("\"}") }
    }

    /// Takes over `true`, `false` or `null`.
    private mutating func literal(_ beginning: StaticString) throws {
        append(beginning)
        let start = position
        while (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(next) { position += 1 }
        copy(from: start)
        append("}")
    }

    /// Goes behind a string.
    private mutating func skipString() throws {
        try expect(UInt8(ascii: "\""))
        while position < source.count {
            let byte = source[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            // Whatever is escaped, a quotation mark among it, is no end.
            if byte == UInt8(ascii: "\\") { position += 1 }
        }
        throw fault
    }
}
