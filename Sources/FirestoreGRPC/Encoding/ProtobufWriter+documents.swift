import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON
import SwiftProtobuf
import UTF8Text

// The messages of google/firestore/v1/document.proto, with their field numbers.
extension ProtobufWriter {
    /// Writes the fields of a `Document`, from its stored JSON, byte by byte and without building values.
    ///
    /// It relies on the canonical form that Hearth writes: no whitespace, and a fraction or exponent only in doubles. Only tagged values,
    /// such as timestamps, are decoded.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    mutating func document(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) {
        string(database.name(of: document.path), field: 1)
        do {
            try document.fieldsJSON.withUnsafeBufferPointer { source in
                var json = CompactJSONCursor(source)
                try fields(&json, in: database)
            }
        } catch {
            throw document.damagedFieldsError(error)
        }
        time(document.createTime, field: 3)
        time(document.updateTime, field: 4)
    }

    /// Writes a `Timestamp`.
    mutating func time(_ time: Timestamp, field: Int) {
        message(field: field) { writer in
            let time = Google_Protobuf_Timestamp(time)
            writer.nonzero(time.seconds, field: 1)
            writer.nonzero(Int64(time.nanos), field: 2)
        }
    }

    private mutating func fields(_ json: inout CompactJSONCursor, in database: DatabaseName) throws {
        // Fields with a name that begins with $ are wrapped in a $map tag.
        let isWrapped = json.skip(#"{"$map":"#)
        try entries(of: &json, field: 2, in: database)
        if isWrapped { try json.expect(UInt8(ascii: "}")) }
        guard json.isAtEnd else { throw json.failure }
    }

    /// Writes the members of an object as the entries of a map.
    private mutating func entries(of json: inout CompactJSONCursor, field: Int, in database: DatabaseName) throws {
        try json.open(UInt8(ascii: "{"))
        guard !json.closes(UInt8(ascii: "}")) else { return }
        repeat {
            try message(field: field) { writer in
                try writer.string(&json, field: 1)
                try json.expect(UInt8(ascii: ":"))
                try writer.message(field: 2) { writer in try writer.value(&json, in: database) }
            }
        } while json.skip(UInt8(ascii: ","))
        try json.close(UInt8(ascii: "}"))
    }

    /// Writes the field of a `Value` that has the next value. Recursion is bounded by the nesting limit of documents.
    private mutating func value(_ json: inout CompactJSONCursor, in database: DatabaseName) throws {
        switch json.next {
        case UInt8(ascii: "\""): try string(&json, field: 17)
        case UInt8(ascii: "{"):
            if json.starts(with: #"{"$"#) { return try taggedValue(&json, in: database) }
            try message(field: 6) { writer in try writer.entries(of: &json, field: 1, in: database) }
        case UInt8(ascii: "["):
            try message(field: 9) { writer in try writer.elements(&json, in: database) }
        default:
            if json.skip("true") {
                boolean(true, field: 1)
            } else if json.skip("false") {
                boolean(false, field: 1)
            } else if json.skip("null") {
                integer(0, field: 11)
            } else {
                switch try json.number() {
                case .integer(let number): integer(number, field: 2)
                case .double(let number): double(number, field: 3)
                case .outOfRange: throw json.failure
                }
            }
        }
    }

    /// Writes the elements of an array as values.
    private mutating func elements(_ json: inout CompactJSONCursor, in database: DatabaseName) throws {
        try json.open(UInt8(ascii: "["))
        guard !json.closes(UInt8(ascii: "]")) else { return }
        repeat {
            try message(field: 1) { writer in try writer.value(&json, in: database) }
        } while json.skip(UInt8(ascii: ","))
        try json.close(UInt8(ascii: "]"))
    }

    /// Writes a string. One with escapes is decoded, and other than ASCII is checked: clients reject a message with invalid UTF-8.
    private mutating func string(_ json: inout CompactJSONCursor, field: Int) throws {
        let start = json.position
        let (bytes, hasEscapes) = try json.string()
        if !hasEscapes {
            guard bytes.allSatisfy({ $0 < 0x80 }) || UTF8Key(validating: bytes) != nil else { throw json.failure }
            return data(bytes, field: field)
        }
        string(try JSONText(Array(json.bytes(from: start))).root.string ?? "", field: field)
    }

    /// Writes a tagged value, by decoding it.
    private mutating func taggedValue(_ json: inout CompactJSONCursor, in database: DatabaseName) throws {
        let start = json.position
        try json.skipContainer()
        value(try Value(json: JSONText(Array(json.bytes(from: start)), limits: .message).root), in: database)
    }

    /// Writes the field of a `Value` that has a value.
    private mutating func value(_ value: Value, in database: DatabaseName) {
        switch value {
        case .null: integer(0, field: 11)
        case .boolean(let value): boolean(value, field: 1)
        case .integer(let value): integer(value, field: 2)
        case .double(let value): double(value, field: 3)
        case .timestamp(let value): time(value, field: 10)
        case .string(let value): string(value, field: 17)
        case .bytes(let value): data(value, field: 18)
        case .reference(let path): string(database.name(of: path), field: 5)
        case .geoPoint(let point):
            message(field: 8) { writer in
                writer.double(point.latitude, field: 1)
                writer.double(point.longitude, field: 2)
            }
        case .array(let elements): array(elements, in: database)
        case .map(let members):
            message(field: 6) { writer in
                for (name, value) in members { writer.entry(name.string, value, in: database) }
            }
        case .vector(let elements):
            message(field: 6) { writer in
                writer.entry("__type__", .string("__vector__"), in: database)
                writer.entry("value", .array(elements.map { .double($0) }), in: database)
            }
        }
    }

    private mutating func array(_ elements: [Value], in database: DatabaseName) {
        message(field: 9) { writer in
            for element in elements {
                writer.message(field: 1) { writer in writer.value(element, in: database) }
            }
        }
    }

    private mutating func entry(_ name: String, _ value: Value, in database: DatabaseName) {
        message(field: 1) { writer in
            writer.string(name, field: 1)
            writer.message(field: 2) { writer in writer.value(value, in: database) }
        }
    }

    /// Writes a number unless it is zero, the default.
    private mutating func nonzero(_ value: Int64, field: Int) {
        if value != 0 { integer(value, field: field) }
    }
}
