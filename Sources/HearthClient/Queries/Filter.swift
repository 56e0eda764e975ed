internal import DocumentModel

/// What documents must fulfil: a condition on a field, or several combined.
///
/// A mistake in it is told when a query with it is run.
public struct Filter: Sendable {
    /// The filter, nil when there is nothing to fulfil, or the first mistake that was made in it.
    let definition: Result<DocumentModel.Filter?, StatusError>
    /// What the references in it belong to.
    let origins: [Firestore]

    /// Documents that fulfil all of the filters.
    public static func andFilter(_ filters: [Filter]) -> Filter {
        Filter(filters) { .and($0) }
    }

    /// Documents that fulfil at least one of the filters.
    public static func orFilter(_ filters: [Filter]) -> Filter {
        Filter(filters) { .or($0) }
    }

    private init(_ filters: [Filter], combine: ([DocumentModel.Filter]) -> DocumentModel.Filter) {
        definition = Result { () throws(StatusError) in
            var definitions: [DocumentModel.Filter] = []
            for filter in filters {
                // Nothing to fulfil is nothing to combine.
                guard let definition = try filter.definition.get() else { continue }
                definitions.append(definition)
            }
            return definitions.count > 1 ? combine(definitions) : definitions.first
        }
        origins = filters.flatMap(\.origins)
    }

    /// A condition on a field, which is named by a `String` or ``FieldPath``.
    init(_ field: Any, _ condition: (inout DictionaryReader) throws(StatusError) -> Condition) {
        var reader = DictionaryReader(permitsSentinels: false)
        definition = Result { () throws(StatusError) in
            let field = try FieldPath(any: field)
            do throws(StatusError) {
                return .field(field, try condition(&reader))
            } catch {
                throw error.inside(field)
            }
        }
        origins = reader.origins
    }
}

extension DictionaryReader {
    /// The values of an operator that takes several.
    mutating func operands(_ values: [Any]) throws(StatusError) -> [Value] {
        try values.map { value throws(StatusError) in try self.value(value) }
    }
}
