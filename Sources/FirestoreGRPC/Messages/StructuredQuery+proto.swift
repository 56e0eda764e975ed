import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import SwiftProtobuf
import UTF8Text

extension StructuredQuery {
    /// Decodes a structured query.
    ///
    /// - Parameter parent: The parent document of the request, or `nil` for the root.
    init(_ message: ProtoStructuredQuery, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        self.init(
            try Self.onlySource(
                in: StatusError.locating(elementsOf: message.from, in: "from") { selector throws(StatusError) in
                    try Source(
                        collectionID: selector.collectionID,
                        allDescendants: selector.allDescendants,
                        below: parent
                    )
                }
            ),
            where: message.hasWhere
                ? try StatusError.locating(in: "where") { () throws(StatusError) in
                    try QueryFilter(message.where, in: database)
                } : nil,
            orders: try StatusError.locating(elementsOf: message.orderBy, in: "orderBy") { order throws(StatusError) in
                try Order(order)
            },
            start: message.hasStartAt ? try Cursor(message.startAt, isStart: true, in: database) : nil,
            end: message.hasEndAt ? try Cursor(message.endAt, isStart: false, in: database) : nil,
            offset: Int(message.offset),
            limit: message.hasLimit ? .first(Int(message.limit.value)) : nil,
            projection: message.hasSelect
                ? try StatusError.locating(in: "select") { () throws(StatusError) in
                    try StatusError.locating(elementsOf: message.select.fields, in: "fields") { field throws(StatusError) in
                        try FieldPath(field)
                    }
                } : [],
            vectorSearch: message.hasFindNearest
                ? try StatusError.locating(in: "findNearest") { () throws(StatusError) in
                    try VectorSearch(message.findNearest, in: database)
                } : nil
        )
    }
}

extension FieldPath {
    init(_ reference: ProtoStructuredQuery.FieldReference) throws(StatusError) {
        guard !reference.fieldPath.utf8.isEmpty else { throw .missing("fieldPath") }
        self = try StatusError.locating(in: "fieldPath") { () throws(StatusError) in try FieldPath(reference.fieldPath) }
    }

    /// Decodes a field reference, or returns `nil` if it is absent.
    fileprivate static func reference(
        _ reference: ProtoStructuredQuery.FieldReference?,
        in field: String
    ) throws(StatusError) -> FieldPath? {
        guard let reference else { return nil }
        return try StatusError.locating(in: field) { () throws(StatusError) in try FieldPath(reference) }
    }
}

extension ProtoEnumeration {
    /// Decodes a field of a message, or returns `nil` if it has no value.
    fileprivate func value(_ message: some SwiftProtobuf.Enum, in field: String) throws(StatusError) -> Value? {
        try StatusError.locating(in: field) { () throws(StatusError) in try value(ofField: message.rawValue) }
    }
}

extension StructuredQuery.Order {
    fileprivate init(_ message: ProtoStructuredQuery.Order) throws(StatusError) {
        guard let field = try FieldPath.reference(message.hasField ? message.field : nil, in: "field") else {
            throw .missing("field")
        }
        let direction = try Direction.messageValues.value(message.direction, in: "direction")
        self.init(.field(field), direction ?? .ascending)
    }
}

extension StructuredQuery.Cursor {
    fileprivate init(_ message: ProtoCursor, isStart: Bool, in database: DatabaseName) throws(StatusError) {
        let values = try StatusError.locating(in: isStart ? "startAt" : "endAt") { () throws(StatusError) in
            try StatusError.locating(elementsOf: message.values, in: "values") { value throws(StatusError) in
                try Value(inQuery: value, in: database)
            }
        }
        self.init(values, isBefore: message.before, isStart: isStart)
    }
}

extension QueryFilter {
    /// Decodes a filter. Recursion is bounded by the depth limit of messages.
    fileprivate init(_ message: ProtoStructuredQuery.Filter, in database: DatabaseName) throws(StatusError) {
        let filter: QueryFilter? =
            switch message.filterType {
            case .compositeFilter(let message)?:
                try StatusError.locating(in: "compositeFilter") { () throws(StatusError) in
                    try QueryFilter(message, in: database)
                }
            case .fieldFilter(let message)?:
                try StatusError.locating(in: "fieldFilter") { () throws(StatusError) in
                    try QueryFilter(message, in: database)
                }
            case .unaryFilter(let message)?:
                try StatusError.locating(in: "unaryFilter") { () throws(StatusError) in try QueryFilter(message) }
            case nil: nil
            }
        self = try .required(filter)
    }

    private init(_ message: ProtoStructuredQuery.CompositeFilter, in database: DatabaseName) throws(StatusError) {
        try self.init(
            CompositeOperator.messageValues.value(message.op, in: "op"),
            StatusError.locating(elementsOf: message.filters, in: "filters") { filter throws(StatusError) in
                try QueryFilter(filter, in: database)
            }
        )
    }

    private init(_ message: ProtoStructuredQuery.FieldFilter, in database: DatabaseName) throws(StatusError) {
        try self.init(
            .reference(message.hasField ? message.field : nil, in: "field"),
            FieldOperator.messageValues.value(message.op, in: "op"),
            message.hasValue
                ? StatusError.locating(in: "value") { () throws(StatusError) in
                    try Value(inQuery: message.value, in: database)
                } : nil
        )
    }

    private init(_ message: ProtoStructuredQuery.UnaryFilter) throws(StatusError) {
        var field: FieldPath?
        if case .field(let reference)? = message.operandType { field = try .reference(reference, in: "field") }
        try self.init(field, unary: Self.unaryConditions.value(message.op, in: "op"))
    }
}

extension VectorSearch {
    fileprivate init(_ message: ProtoStructuredQuery.FindNearest, in database: DatabaseName) throws(StatusError) {
        try self.init(
            field: .reference(message.hasVectorField ? message.vectorField : nil, in: "vectorField"),
            queryVector: message.hasQueryVector
                ? StatusError.locating(in: "queryVector") { () throws(StatusError) in
                    try Value(message.queryVector, in: database)
                } : nil,
            measure: Self.measures.value(message.distanceMeasure, in: "distanceMeasure"),
            limit: message.hasLimit ? Int(message.limit.value) : nil,
            distanceField: message.distanceResultField.utf8.isEmpty
                ? nil
                : StatusError.locating(in: "distanceResultField") { () throws(StatusError) in
                    try FieldPath(message.distanceResultField)
                },
            threshold: message.hasDistanceThreshold ? message.distanceThreshold.value : nil
        )
    }
}

extension StructuredAggregationQuery {
    init(
        _ message: ProtoStructuredAggregationQuery,
        below parent: DocumentPath?,
        in database: DatabaseName
    ) throws(StatusError) {
        guard case .structuredQuery(let query)? = message.queryType else { throw .missing("structuredQuery") }
        try self.init(
            StatusError.locating(elementsOf: message.aggregations, in: "aggregations") { aggregation throws(StatusError) in
                try Aggregation(aggregation)
            },
            of: StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
                try StructuredQuery(query, below: parent, in: database)
            }
        )
    }
}

extension Aggregation {
    fileprivate init(_ message: ProtoStructuredAggregationQuery.Aggregation) throws(StatusError) {
        func operand(
            _ reference: ProtoStructuredQuery.FieldReference?,
            in field: String
        ) throws(StatusError) -> FieldPath {
            try StatusError.locating(in: field) { () throws(StatusError) in
                guard let path = try FieldPath.reference(reference, in: "field") else { throw .missing("field") }
                return path
            }
        }
        let operation: Operation? =
            switch message.operator {
            case .count(let count)?: .count(upTo: count.hasUpTo ? Int(count.upTo.value) : nil)
            case .sum(let sum)?: .sum(try operand(sum.hasField ? sum.field : nil, in: "sum"))
            case .avg(let average)?: .average(try operand(average.hasField ? average.field : nil, in: "avg"))
            case nil: nil
            }
        try self.init(operation, named: message.alias.utf8.isEmpty ? nil : UTF8Key(message.alias))
    }
}
