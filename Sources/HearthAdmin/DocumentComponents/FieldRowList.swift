import DocumentModel
import UTF8Text

/// The fields of a document as rows; maps and arrays are followed by their contents.
struct FieldRowList: Sendable {
    private(set) var rows: [FieldRow] = []
    /// The number of rows including those beyond the limit.
    private(set) var count = 0
    private(set) var values = ValueViewBuilder()

    /// The collection that the values filter.
    private let request: CollectionRequest

    /// The document whose values have links to their editors; `nil` if the user may not change it.
    private let edited: DocumentPath?

    /// Creates the rows of a document.
    ///
    /// - Parameter canWrite: Whether the user may change the document; the values then have links to their editors.
    init(of document: Document, canWrite: Bool) {
        edited = canWrite ? document.path : nil
        request = CollectionRequest(path: document.path.collection)
        for (key, value) in document.fields {
            append(
                value,
                name: key.string,
                location: .field([key]),
                path: ElementPath.appending(key, to: nil),
                parent: nil,
                depth: 0
            )
        }
    }

    /// The location of a value in a document, as far as filters can name it.
    private enum Location {
        /// A field with the names of its path.
        case field([UTF8Key])
        /// An element of the array in a field.
        case element(of: [UTF8Key])
        /// An element of an array inside another one.
        case innerElement
        /// A field of a map in an array.
        case innerField

        var isElement: Bool {
            switch self {
            case .element, .innerElement: true
            case .field, .innerField: false
            }
        }
    }

    /// The number of rows beyond the limit.
    var hiddenCount: Int { count - rows.count }

    private mutating func append(
        _ value: Value,
        name: String,
        location: Location,
        path: String,
        parent: String?,
        depth: Int
    ) {
        count += 1
        let isShown = rows.count < Self.limit
        let type = ValueType(of: value)
        if isShown {
            rows.append(
                FieldRow(
                    depth: depth,
                    parent: parent.map { DisplayText($0) },
                    name: DisplayText(name),
                    isElement: location.isElement,
                    path: DisplayText(path),
                    type: type,
                    value: view(of: value),
                    filters: filters(value, at: location),
                    editURL: edited.map { AdminURL.value(path, of: $0) }
                )
            )
        }
        switch value {
        case .map(let map):
            for (key, value) in map {
                let inner = isShown ? ElementPath.appending(key, to: path) : path
                let nested: Location = if case .field(let names) = location { .field(names + [key]) } else { .innerField }
                append(value, name: key.string, location: nested, path: inner, parent: path, depth: depth + 1)
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() {
                let inner = isShown ? ElementPath.appending(index, to: path) : path
                let nested: Location = if case .field(let names) = location { .element(of: names) } else { .innerElement }
                append(value, name: String(index), location: nested, path: inner, parent: path, depth: depth + 1)
            }
        default: break
        }
    }

    private mutating func view(of value: Value) -> ValueView {
        switch value {
        case .map(let map): .summary(ValueViewBuilder.summary(of: map))
        case .array(let elements): .summary(ValueViewBuilder.summary(of: elements))
        default: values.view(of: value, in: .detail)
        }
    }

    private func filters(_ value: Value, at location: Location) -> ValueFilterLinks? {
        switch location {
        case .field(let names):
            // A nested path may exceed the length limit for field paths.
            (try? FieldPath(segments: names)).flatMap { ValueFilterLinks($0, value, in: request) }
        case .element(let names):
            (try? FieldPath(segments: names)).flatMap { ValueFilterLinks(element: value, of: $0, in: request) }
        case .innerElement, .innerField: nil
        }
    }

    private static let limit = 2_000
}
