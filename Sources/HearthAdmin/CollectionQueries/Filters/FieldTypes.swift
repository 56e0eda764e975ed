import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The types of a field's values in a sample of documents, and the types of the elements if the values are arrays.
struct FieldTypes: Sendable {
    /// The types of the values, the most frequent first, null last.
    let values: [ValueType]
    /// The types of the elements of arrays, the most frequent first, null last.
    let elements: [ValueType]

    /// The types of a field about which nothing is known.
    static let unknown = FieldTypes(of: [])

    /// Counts the types of values.
    init(of values: [Value]) {
        self.values = ValueType.byFrequency(of: values)
        elements = ValueType.byFrequency(
            of: values.flatMap { value -> [Value] in
                if case .array(let elements) = value { elements } else { [] }
            }
        )
    }

    /// Reads the types from the first documents of a source. If none has the field, they are those of the least and the greatest
    /// values in the index.
    ///
    /// An unreadable or forbidden collection has no types, nor does a field that is neither in the sample nor indexed.
    init(of field: FieldPath, in source: StructuredQuery.Source, for request: AdminRequest) async {
        guard !field.isDocumentName else {
            self = .unknown
            return
        }
        var values = await Self.values(of: field, in: StructuredQuery(source, limit: .first(Self.sampleSize)), for: request)
        if values.isEmpty {
            for direction in [StructuredQuery.Order.Direction.ascending, .descending] {
                let order = StructuredQuery.Order(.field(field), direction)
                let query = StructuredQuery(source, orders: [order], limit: .first(Self.indexSampleSize))
                values += await Self.values(of: field, in: query, for: request)
            }
        }
        self.init(of: values)
    }

    private static func values(of field: FieldPath, in query: StructuredQuery, for request: AdminRequest) async -> [Value] {
        let results = await request.resultIfPermitted { () async throws(StatusError) in
            try await RunQuery.call(.init(NormalizedQuery(query)), in: request.context)
        }
        return (results?.documents ?? []).compactMap { document in (try? document.decoded())?.fields[field] }
    }

    private static let sampleSize = 100
    private static let indexSampleSize = 20
}

extension ValueType {
    /// Returns the types of values, the most frequent first, null last.
    static func byFrequency(of values: [Value]) -> [ValueType] {
        var counts: [ValueType: Int] = [:]
        for value in values { counts[ValueType(of: value), default: 0] += 1 }
        return byFrequency(counts)
    }

    /// Returns the counted types, the most frequent first, null last. Numbers are counted together, and then by their types.
    static func byFrequency(_ counts: [ValueType: Int]) -> [ValueType] {
        func total(_ type: ValueType) -> Int {
            counts.reduce(0) { $1.key.isComparable(to: type) ? $0 + $1.value : $0 }
        }
        return allCases.filter { counts[$0] != nil }
            .sorted { left, right in
                if (left == .null) != (right == .null) { return right == .null }
                return (total(left), counts[left, default: 0]) > (total(right), counts[right, default: 0])
            }
    }
}
