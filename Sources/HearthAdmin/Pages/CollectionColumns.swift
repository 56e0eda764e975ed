import DocumentModel
import StrictJSON

/// The columns of a table of documents: those that were chosen, or else the union of the documents' fields, those that most
/// documents have first.
struct CollectionColumns: Sendable {
    /// A field.
    struct Column: Sendable {
        let path: FieldPath
        /// Its types, the commonest first.
        let types: [ValueType]

        /// The type that cells have unless they say otherwise.
        var usualType: ValueType? { types.first }
    }

    /// The columns that the table shows.
    let shown: [Column]
    /// How many fields more the documents have, which nobody has chosen to leave out.
    let hidden: Int
    /// Whether the columns shown are all fields of the documents, rather than those that were chosen or that there is room for.
    let areAll: Bool

    /// Gathers the fields of documents.
    ///
    /// - Parameter chosen: The columns that are wanted; none where the documents are to decide.
    init(of documents: [Document], chosen: [FieldPath] = []) {
        let paths = chosen.isEmpty ? Self.fields(of: documents, depth: 1) : chosen
        shown = paths.prefix(Self.limit).map { Column(path: $0, types: Self.types(of: $0, in: documents)) }
        hidden = chosen.isEmpty ? max(0, paths.count - Self.limit) : 0
        areAll = chosen.isEmpty && hidden == 0
    }

    /// The fields of documents, those that most have first, and the fields in a map behind the map itself.
    ///
    /// - Parameter depth: How deep to look into maps.
    static func fields(of documents: [Document], depth: Int = 3) -> [FieldPath] {
        fields(in: documents.lazy.map(\.fields), below: [], depth: depth)
    }

    private static func fields(in maps: some Sequence<MapValue>, below parent: [UTF8Key], depth: Int) -> [FieldPath] {
        var counts: [UTF8Key: Int] = [:]
        var inner: [UTF8Key: [MapValue]] = [:]
        for fields in maps {
            for (key, value) in fields {
                counts[key, default: 0] += 1
                if depth > 1, case .map(let map) = value { inner[key, default: []].append(map) }
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.flatMap { key, _ -> [FieldPath] in
            // A path can be longer than an address or a query may have it.
            guard let path = try? FieldPath(segments: parent + [key]) else { return [] }
            return [path] + (inner[key].map { fields(in: $0, below: parent + [key], depth: depth - 1) } ?? [])
        }
    }

    /// The types of a field, the commonest first; null says least of a column and comes last.
    private static func types(of field: FieldPath, in documents: [Document]) -> [ValueType] {
        var counts: [ValueType: Int] = [:]
        for document in documents {
            if let value = document.fields[field] { counts[ValueType(of: value), default: 0] += 1 }
        }
        return ValueType.allCases.filter { counts[$0] != nil }
            .sorted { left, right in
                if (left == .null) != (right == .null) { return right == .null }
                return counts[left, default: 0] > counts[right, default: 0]
            }
    }

    private static let limit = 60
}
