import FirestoreProto
import SwiftProtobuf

// Messages in the words of the definitions.

extension SwiftProtobuf.Message {
    static func make(_ build: (inout Self) throws -> Void) rethrows -> Self {
        var message = Self()
        try build(&message)
        return message
    }
}

extension ProtoValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(integerLiteral value: Int64) {
        self.init()
        integerValue = value
    }

    package init(stringLiteral value: String) {
        self.init()
        stringValue = value
    }

    static func array(_ values: ProtoValue...) -> ProtoValue {
        .make { $0.arrayValue = .make { $0.values = values } }
    }

    static func map(_ fields: KeyValuePairs<String, ProtoValue>) -> ProtoValue {
        .make { $0.mapValue = .make { $0.fields = entries(fields) } }
    }

    static func double(_ value: Double) -> ProtoValue {
        .make { $0.doubleValue = value }
    }

    static func reference(_ path: String) -> ProtoValue {
        .make { $0.referenceValue = resourceName(path) }
    }

    static func vector(_ elements: Double...) -> ProtoValue {
        .map([
            "__type__": "__vector__", "value": .make { $0.arrayValue = .make { $0.values = elements.map { .double($0) } } },
        ])
    }
}

func entries(_ fields: KeyValuePairs<String, ProtoValue>) -> [ProtoFieldEntry] {
    fields.map { name, value in
        .make {
            $0.key = name
            $0.value = value
        }
    }
}

extension ProtoDocument {
    static func document(_ path: String, _ fields: KeyValuePairs<String, ProtoValue> = [:]) -> ProtoDocument {
        .make {
            $0.name = path.isEmpty ? "" : resourceName(path)
            $0.fields = entries(fields)
        }
    }

    /// The value of a field.
    subscript(_ name: String) -> ProtoValue? {
        fields.first { $0.key == name }?.value
    }
}

extension ProtoDocumentMask {
    static func mask(_ paths: String...) -> ProtoDocumentMask {
        .make { $0.fieldPaths = paths }
    }
}

extension ProtoPrecondition {
    static func exists(_ exists: Bool) -> ProtoPrecondition {
        .make { $0.exists = exists }
    }
}

extension ProtoStructuredQuery {
    /// A query of a collection.
    static func query(_ collection: String, _ build: (inout ProtoStructuredQuery) -> Void = { _ in }) -> ProtoStructuredQuery {
        .make {
            $0.from = [.make { $0.collectionID = collection }]
            build(&$0)
        }
    }
}

extension ProtoStructuredQuery.FieldReference: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self.init()
        fieldPath = value
    }
}

extension ProtoStructuredQuery.Filter {
    static func field(
        _ field: ProtoStructuredQuery.FieldReference,
        _ op: ProtoStructuredQuery.FieldFilter.Operator,
        _ value: ProtoValue
    ) -> ProtoStructuredQuery.Filter {
        .make {
            $0.fieldFilter = .make {
                $0.field = field
                $0.op = op
                $0.value = value
            }
        }
    }
}

extension ProtoRunQueryRequest {
    static func run(_ query: ProtoStructuredQuery, below parent: String = "") -> ProtoRunQueryRequest {
        .make {
            $0.parent = resourceName(parent)
            $0.structuredQuery = query
        }
    }
}

extension ProtoCommitRequest {
    static func commit(_ writes: ProtoWrite...) -> ProtoCommitRequest {
        .make {
            $0.database = databaseName
            $0.writes = writes
        }
    }
}

extension ProtoWrite {
    static func set(_ path: String, _ fields: KeyValuePairs<String, ProtoValue> = [:]) -> ProtoWrite {
        .make { $0.update = .document(path, fields) }
    }

    static func delete(_ path: String) -> ProtoWrite {
        .make { $0.delete = resourceName(path) }
    }
}
