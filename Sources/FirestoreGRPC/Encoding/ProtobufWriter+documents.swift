import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON
import SwiftProtobuf
import UTF8Text

// The messages of google/firestore/v1/document.proto, with their field numbers.
extension ProtobufWriter {
    /// Writes the fields of a `Document`, from its stored JSON.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    mutating func document(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) {
        string(database.name(of: document.path), field: 1)
        try entries(of: document.parsedFields(), field: 2, in: database)
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

    /// Writes the members of an object as the entries of a map.
    private mutating func entries(of object: JSONNode, field: Int, in database: DatabaseName) throws(StatusError) {
        guard let members = object.members else { return }
        for (name, node) in members {
            try message(field: field) { writer throws(StatusError) in
                writer.string(name.string, field: 1)
                try writer.message(field: 2) { writer throws(StatusError) in try writer.value(node, in: database) }
            }
        }
    }

    /// Writes the field of a `Value` that has the value of a node. Recursion is bounded by the nesting limit of documents.
    private mutating func value(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        switch node.kind {
        case .object:
            if node.isTagged { return value(try Value(json: node), in: database) }
            try message(field: 6) { writer throws(StatusError) in try writer.entries(of: node, field: 1, in: database) }
        case .array:
            guard let elements = node.elements else { return }
            try message(field: 9) { writer throws(StatusError) in
                for element in elements {
                    try writer.message(field: 1) { writer throws(StatusError) in try writer.value(element, in: database) }
                }
            }
        case .string: string(node.string ?? "", field: 17)
        case .boolean: boolean(node.boolean ?? false, field: 1)
        case .null: integer(0, field: 11)
        case .number:
            switch node.number {
            case .integer(let number)?: integer(number, field: 2)
            case .double(let number)?: double(number, field: 3)
            case .outOfRange?, nil: throw StatusError(.dataLoss, "A number of the document is out of range.")
            }
        }
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

extension JSONNode {
    /// True for an object with a tag, such as `{"$timestamp": …}`. The names of a plain map never begin with `$`.
    fileprivate var isTagged: Bool {
        guard count == 1, var members, let name = members.next()?.key else { return false }
        return name.utf8.first == UInt8(ascii: "$")
    }
}
