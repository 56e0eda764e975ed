import DocumentModel
import UTF8Text

/// The columns of a table of documents: the chosen ones, or the most frequent of the documents' fields, in the order of a
/// document.
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
    ///   - chosen: The chosen columns; empty to use the fields of the documents.
    ///   - pinned: The columns that come first.
    init(of documents: [Document], chosen: [FieldPath] = [], pinned: Set<FieldPath> = []) {
        var paths = chosen.isEmpty ? Self.fields(of: documents, depth: 1, limit: Self.limit) : chosen
        paths = paths.filter(pinned.contains) + paths.filter { !pinned.contains($0) }
        shown = paths.prefix(Self.limit).map { Column(path: $0, types: Self.types(of: $0, in: documents)) }
        hiddenCount = chosen.isEmpty ? max(0, paths.count - Self.limit) : 0
        showsAllFields = chosen.isEmpty && hiddenCount == 0
    }

    /// Returns the fields of documents in the order of a document, which is that of their names, each map followed by its fields.
    /// So the order is the same whichever documents lack a field.
    ///
    /// - Parameters:
    ///   - depth: The number of levels to descend into maps, 1 for top-level fields only.
    ///   - limit: The number of fields that the caller shows. If there are more, those that most documents have come first, and
    ///     then the others by their frequency.
    static func fields(of documents: [Document], depth: Int = 3, limit: Int = .max) -> [FieldPath] {
        let fields = fields(in: documents.lazy.map(\.fields), below: [], depth: depth)
        guard fields.count > limit else { return fields.map(\.path) }
        let ranked = fields.indices.sorted { (fields[$1].count, $0) < (fields[$0].count, $1) }
        return (ranked.prefix(limit).sorted() + ranked.dropFirst(limit)).map { fields[$0].path }
    }

    /// Returns the fields of maps with the number of maps that have each.
    private static func fields(
        in maps: some Sequence<MapValue>,
        below parent: [UTF8Key],
        depth: Int
    ) -> [(path: FieldPath, count: Int)] {
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
        return entries.sorted { $0.key < $1.key }.flatMap { key, count, maps -> [(path: FieldPath, count: Int)] in
            // A nested path may exceed the length limit for field paths.
            guard let path = try? FieldPath(segments: parent + [key]) else { return [] }
            return [(path, count)] + (maps.isEmpty ? [] : fields(in: maps, below: parent + [key], depth: depth - 1))
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
