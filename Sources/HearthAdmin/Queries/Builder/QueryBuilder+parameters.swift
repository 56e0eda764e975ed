import DocumentModel
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

extension QueryBuilder {
    /// The parameters of `query.run`, with the fields of the form that their parts come from.
    struct Parameters {
        /// A field of the form.
        enum Field {
            case collection
            case filter(group: Int, row: Int)
            case filters
            case order(Int)
            case limit
            case offset
        }

        fileprivate(set) var json: [UInt8] = []
        /// The path of each part, such as `params.where.and[1]`, with its field.
        fileprivate var fields: [(path: String, field: Field)] = [
            ("params.collection", .collection), ("params.collectionGroup", .collection), ("params.where", .filters),
            ("params.limit", .limit), ("params.offset", .offset),
        ]

        /// Returns the field that a parameter comes from: the one with the longest path that contains it, the last one of several;
        /// `nil` if the parameter concerns the whole query.
        func field(at path: String) -> Field? {
            let candidates = fields.filter { path.utf8.starts(with: $0.path.utf8) }
            let length = candidates.map(\.path.utf8.count).max()
            return candidates.last { $0.path.utf8.count == length }?.field
        }
    }

    /// Validates the query and returns its parameters; `nil` if it is invalid, with the errors in their fields.
    mutating func validated() -> Parameters? {
        validateFields()
        guard isValid, let parameters = try? parameters() else { return nil }
        do {
            _ = try RunQuery.params(from: Arguments(json: parameters.json, of: RunQuery.self))
            return parameters
        } catch let error as any RPCErrorConvertible {
            add(CollectionQuery.ValidationError(error.rpcError, filterCount: 0), parameters)
        } catch {
            otherError = "This query cannot be decoded."
        }
        return nil
    }

    /// Adds the error of a query to the field that it concerns.
    mutating func add(_ error: CollectionQuery.ValidationError, _ parameters: Parameters) {
        switch error.parameterPath.flatMap({ parameters.field(at: $0) }) {
        case .collection?: collectionError = error.message
        case .filter(let group, let row)?: groups[group].rows[row].error = error.message
        case .filters?: filterError = error.message
        case .order(let index)?: orders[index].error = error.message
        case .limit?: limitError = error.message
        case .offset?: offsetError = error.message
        case nil: otherError = error.message
        }
    }

    private mutating func validateFields() {
        let (isGroup, collection) = (isGroup, collection)
        collectionError = Self.message { () throws(StatusError) in
            if isGroup { _ = try CollectionID(collection) } else { _ = try CollectionPath(collection) }
        }
        for group in groups.indices {
            for (index, row) in groups[group].rows.enumerated() where row.error == nil {
                groups[group].rows[index].error = Self.message { () throws(StatusError) in _ = try row.condition() }
            }
        }
        for (index, row) in orders.enumerated() where row.error == nil {
            orders[index].error = Self.message { () throws(StatusError) in _ = try row.order() }
        }
        limitError = Self.problem(with: limit, from: 1)
        offsetError = Self.problem(with: offset, from: 0)
    }

    private static func message(_ body: () throws(StatusError) -> Void) -> String? {
        do throws(StatusError) {
            try body()
            return nil
        } catch {
            return error.message
        }
    }

    private static func problem(with text: String, from minimum: Int) -> String? {
        guard !text.utf8.isEmpty else { return nil }
        guard let number = NumberInput.integer(text), number >= minimum, number <= Int32.max else {
            return "Expected a number from \(minimum) to \(Int32.max), found \(Excerpt(text))."
        }
        return nil
    }

    /// Encodes a query whose fields are valid.
    private func parameters() throws(StatusError) -> Parameters {
        var parameters = Parameters()
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(isGroup ? "collectionGroup" : "collection")
        writer.string(collection)
        try writeFilters(to: &writer, &parameters)
        if !orders.isEmpty {
            writer.key("orderBy")
            writer.beginArray()
            for (index, row) in orders.enumerated() {
                parameters.fields.append(("params.orderBy[\(index)]", .order(index)))
                try row.order().write(to: &writer)
            }
            writer.endArray()
        }
        for (name, text) in [("offset" as StaticString, offset), ("limit", limit)] {
            guard let number = NumberInput.integer(text) else { continue }
            writer.key(name)
            writer.integer(number)
        }
        writer.endObject()
        parameters.json = writer.finish()
        return parameters
    }

    private func writeFilters(to writer: inout JSONWriter, _ parameters: inout Parameters) throws(StatusError) {
        // The filters outside of groups, and the groups.
        let elements =
            groups[0].rows.indices.map { (group: 0, rows: [$0]) }
            + groups.indices.dropFirst().map { (group: $0, rows: Array(groups[$0].rows.indices)) }.filter { !$0.rows.isEmpty }
        guard !elements.isEmpty else { return }
        let name = groups[0].operatorName
        writer.key("where")
        if elements.count > 1 { writer.beginList(name) }
        for (position, element) in elements.enumerated() {
            let path = elements.count > 1 ? "params.where.\(name)[\(position)]" : "params.where"
            try write(element.rows, of: element.group, at: path, to: &writer, &parameters)
        }
        if elements.count > 1 { writer.endList() }
    }

    private func write(
        _ rows: [Int],
        of group: Int,
        at path: String,
        to writer: inout JSONWriter,
        _ parameters: inout Parameters
    ) throws(StatusError) {
        let name = groups[group].operatorName
        if rows.count > 1 { writer.beginList(name) }
        for (position, row) in rows.enumerated() {
            let rowPath = rows.count > 1 ? "\(path).\(name)[\(position)]" : path
            parameters.fields.append((rowPath, .filter(group: group, row: row)))
            try groups[group].rows[row].write(to: &writer)
        }
        if rows.count > 1 { writer.endList() }
    }
}

extension QueryBuilder.Group {
    fileprivate var operatorName: StaticString { isDisjunction ? "or" : "and" }
}

extension JSONWriter {
    /// Begins an object with a list of filters.
    fileprivate mutating func beginList(_ name: StaticString) {
        beginObject()
        key(name)
        beginArray()
    }

    fileprivate mutating func endList() {
        endArray()
        endObject()
    }
}

extension QueryBuilder.OrderRow {
    /// Returns the order.
    ///
    /// - Throws: `invalidArgument` when the field or the point is invalid.
    func order() throws(StatusError) -> StructuredQuery.Order {
        guard !field.utf8.isEmpty else { throw StatusError(.invalidArgument, "Enter a field, such as author.name.") }
        let path = try FieldPathText.path(field)
        let isDescending = direction == .descending || direction == .farthest
        guard direction.isByDistance else { return StructuredQuery.Order(.field(path), isDescending ? .descending : .ascending) }
        guard case .geoPoint(let point) = try ValueInput(point, as: .geoPoint).value() else {
            throw StatusError(.internal, "The point has another type.")
        }
        return StructuredQuery.Order(.distance(of: path, from: point), isDescending ? .descending : .ascending)
    }
}

extension StructuredQuery.Order {
    /// Writes the order as an element of `orderBy`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("field")
        writer.string(key.field.description)
        if case .distance(_, let point) = key {
            writer.key("distanceFrom")
            Value.geoPoint(point).write(to: &writer)
        }
        if direction == .descending {
            writer.key("direction")
            writer.string("desc")
        }
        writer.endObject()
    }
}
