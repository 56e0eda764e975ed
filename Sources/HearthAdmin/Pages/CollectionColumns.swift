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
    /// - Parameters:
    ///   - fields: The fields that they have, those in maps among them.
    ///   - chosen: The columns that are wanted; none where the documents are to decide.
    init(of documents: [Document], fields: [FieldPath], chosen: [FieldPath] = []) {
        let paths = chosen.isEmpty ? fields.filter { $0.segments.count == 1 } : chosen
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
        var found: [(key: UTF8Key, count: Int, inner: [MapValue])] = []
        var places: [UTF8Key: Int] = [:]
        for fields in maps {
            // Mostly a document has the fields that those before it have, and in the same order.
            var next = 0
            for (key, value) in fields {
                let place: Int
                if next < found.count, found[next].key == key {
                    place = next
                } else if let known = places[key] {
                    place = known
                } else {
                    place = found.count
                    places[key] = place
                    found.append((key, 0, []))
                }
                found[place].count += 1
                if depth > 1, case .map(let map) = value { found[place].inner.append(map) }
                next = place + 1
            }
        }
        return found.sorted { ($1.count, $0.key) < ($0.count, $1.key) }.flatMap { key, _, inner -> [FieldPath] in
            // A path can be longer than an address or a query may have it.
            guard let path = try? FieldPath(segments: parent + [key]) else { return [] }
            return [path] + (inner.isEmpty ? [] : fields(in: inner, below: parent + [key], depth: depth - 1))
        }
    }

    /// The types of a field, the commonest first; null says least of a column and comes last.
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
        return ValueType.allCases.filter { counts[$0] != nil }
            .sorted { left, right in
                if (left == .null) != (right == .null) { return right == .null }
                return counts[left, default: 0] > counts[right, default: 0]
            }
    }

    private static let limit = 60
}
