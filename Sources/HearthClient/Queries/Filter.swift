internal import DocumentModel

/// A condition on a field, or a combination of filters with AND or OR.
///
/// An invalid filter is reported when a query that uses it is run.
public struct Filter: Sendable {
    /// The filter, `nil` if it is empty, or the first error in it.
    let definition: Result<QueryFilter?, StatusError>
    /// The databases of the references in the filter.
    let databases: [Firestore]

    /// Returns a filter that is true if all filters are true.
    public static func andFilter(_ filters: [Filter]) -> Filter {
        Filter(filters) { .and($0) }
    }

    /// Returns a filter that is true if at least one of the filters is true.
    public static func orFilter(_ filters: [Filter]) -> Filter {
        Filter(filters) { .or($0) }
    }

    private init(_ filters: [Filter], combine: ([QueryFilter]) -> QueryFilter) {
        definition = Result { () throws(StatusError) in
            var definitions: [QueryFilter] = []
            for filter in filters {
                // Ignores empty filters.
                guard let definition = try filter.definition.get() else { continue }
                definitions.append(definition)
            }
            return definitions.count > 1 ? combine(definitions) : definitions.first
        }
        databases = filters.flatMap(\.databases)
    }

    /// Creates a condition on a field, given by a `String` or ``FieldPath``.
    init(_ field: Any, _ condition: (inout UserDataReader) throws(StatusError) -> Condition) {
        var reader = UserDataReader(allowsSentinels: false)
        definition = Result { () throws(StatusError) in
            let field = try FieldPath(any: field)
            do throws(StatusError) {
                return .field(field, try condition(&reader))
            } catch {
                throw error.inside(field)
            }
        }
        databases = reader.databases
    }
}

extension UserDataReader {
    /// Converts the values of an operator with several operands.
    mutating func operands(_ values: [Any]) throws(StatusError) -> [Value] {
        try values.map { value throws(StatusError) in try self.value(value) }
    }
}
