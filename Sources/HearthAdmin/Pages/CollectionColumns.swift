import DocumentModel
import StrictJSON

/// The columns of a table of documents: the union of their fields, those that most documents have first.
struct CollectionColumns: Sendable {
    /// A field.
    struct Column: Sendable {
        let key: UTF8Key
        /// Its types, the commonest first.
        let types: [ValueType]

        /// The type that cells have unless they say otherwise.
        var usualType: ValueType? { types.first }
    }

    /// The columns that the table shows.
    let shown: [Column]
    /// How many fields more the documents have.
    let hidden: Int

    /// Gathers the fields of documents.
    init(of documents: [MapValue]) {
        var counts: [UTF8Key: [ValueType: Int]] = [:]
        for fields in documents {
            for (key, value) in fields { counts[key, default: [:]][ValueType(of: value), default: 0] += 1 }
        }
        let ordered = counts.map { (key: $0, types: $1, total: $1.values.reduce(0, +)) }
            .sorted { ($1.total, $0.key) < ($0.total, $1.key) }
        shown = ordered.prefix(Self.limit).map { Column(key: $0.key, types: Self.byCount($0.types)) }
        hidden = max(0, ordered.count - Self.limit)
    }

    /// The types of a column, the commonest first; null says least of a column and comes last.
    private static func byCount(_ counts: [ValueType: Int]) -> [ValueType] {
        ValueType.allCases.filter { counts[$0] != nil }
            .sorted { left, right in
                if (left == .null) != (right == .null) { return right == .null }
                return counts[left, default: 0] > counts[right, default: 0]
            }
    }

    private static let limit = 60
}

extension CollectionColumns.Column: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": DisplayText(key.string)
        case "types": types.map(\.name).joined(separator: " · ")
        case "isNumeric": usualType?.isNumeric ?? false
        default: nil
        }
    }
}
