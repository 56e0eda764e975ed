import DocumentModel
import UTF8Text

/// The columns of a table of documents: the chosen ones, or the union of the documents' fields, the most frequent first.
struct CollectionColumns: Sendable {
    /// A column with the values of a field.
    struct Column: Sendable {
        let path: FieldPath
        /// The types of the values, the most frequent first.
        let types: [ValueType]

        /// The most frequent type; cells with another type are labeled.
        var predominantType: ValueType? { types.first }
    }

    /// The columns of the table.
    let shown: [Column]
    /// The number of fields beyond the column limit.
    let hiddenCount: Int
    /// True if the columns are all fields of the documents, neither chosen nor limited.
    let showsAllFields: Bool

    /// Determines the columns for documents.
    ///
    /// - Parameters:
    ///   - fields: The fields of the documents, including fields of maps.
    ///   - chosen: The chosen columns; empty to use the fields of the documents.
    init(of documents: [Document], fields: [FieldPath], chosen: [FieldPath] = []) {
        let paths = chosen.isEmpty ? fields.filter { $0.segments.count == 1 } : chosen
        shown = paths.prefix(Self.limit).map { Column(path: $0, types: Self.types(of: $0, in: documents)) }
        hiddenCount = chosen.isEmpty ? max(0, paths.count - Self.limit) : 0
        showsAllFields = chosen.isEmpty && hiddenCount == 0
    }

    /// Returns the fields of documents, the most frequent first, each map followed by its fields.
    ///
    /// - Parameter depth: The number of levels to descend into maps, 1 for top-level fields only.
    static func fields(of documents: [Document], depth: Int = 3) -> [FieldPath] {
        fields(in: documents.lazy.map(\.fields), below: [], depth: depth)
    }

    private static func fields(in maps: some Sequence<MapValue>, below parent: [UTF8Key], depth: Int) -> [FieldPath] {
        var entries: [(key: UTF8Key, count: Int, maps: [MapValue])] = []
        var indices: [UTF8Key: Int] = [:]
        for fields in maps {
            // Documents mostly have the same fields in the same order, so the next index is tried before the dictionary.
            var next = 0
            for (key, value) in fields {
                let index: Int
                if next < entries.count, entries[next].key == key {
                    index = next
                } else if let known = indices[key] {
                    index = known
                } else {
                    index = entries.count
                    indices[key] = index
                    entries.append((key, 0, []))
                }
                entries[index].count += 1
                if depth > 1, case .map(let map) = value { entries[index].maps.append(map) }
                next = index + 1
            }
        }
        return entries.sorted { ($1.count, $0.key) < ($0.count, $1.key) }.flatMap { key, _, maps -> [FieldPath] in
            // A nested path may exceed the length limit for field paths.
            guard let path = try? FieldPath(segments: parent + [key]) else { return [] }
            return [path] + (maps.isEmpty ? [] : fields(in: maps, below: parent + [key], depth: depth - 1))
        }
    }

    /// Returns the types of a field's values, the most frequent first, null last.
    private static func types(of field: FieldPath, in documents: [Document]) -> [ValueType] {
        var counts: [ValueType: Int] = [:]
        var run: (type: ValueType, count: Int)?
        for document in documents {
            guard let value = document.fields[field] else { continue }
            let type = ValueType(of: value)
            if let last = run, last.type != type {
                counts[last.type, default: 0] += last.count
                run = nil
            }
            run = (type, (run?.count ?? 0) + 1)
        }
        if let run { counts[run.type, default: 0] += run.count }
        return ValueType.byFrequency(counts)
    }

    private static let limit = 60
}
