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

    /// The document, whose page shows more of a large map or array.
    private let document: DocumentPath

    /// The path of the map or array of which more than the first values are shown; `nil` for none.
    private let expanded: String?

    /// Creates the rows of a document.
    ///
    /// - Parameters:
    ///   - canWrite: Whether the user may change the document; the values then have links to their editors.
    ///   - expanded: The path of the map or array of which more than the first values are shown; `nil` for none.
    init(of document: Document, canWrite: Bool, expanding expanded: String? = nil) {
        self.document = document.path
        self.expanded = expanded
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
        depth: Int,
        isFirstOfMore: Bool = false
    ) {
        count += 1
        let isShown = rows.count < Self.limit
        let type = ValueType(of: value)
        if isShown {
            rows.append(
                FieldRow(
                    depth: depth,
                    path: DisplayText(path),
                    isFirstOfMore: isFirstOfMore,
                    content: .value(
                        FieldValueRow(
                            parent: parent.map { DisplayText($0) },
                            name: DisplayText(name),
                            isElement: location.isElement,
                            isContainer: Self.hasContents(value),
                            type: type,
                            value: view(of: value),
                            filters: filters(value, at: location),
                            editURL: edited.map { AdminURL.value(path, of: $0) }
                        )
                    )
                )
            )
        }
        switch value {
        case .map(let map):
            let contents = map.lazy.map { key, value in
                let nested: Location = if case .field(let names) = location { .field(names + [key]) } else { .innerField }
                let inner = isShown ? ElementPath.appending(key, to: path) : path
                return Child(value: value, name: key.string, location: nested, path: inner)
            }
            appendContents(contents, count: map.count, of: path, isMap: true, isShown: isShown, depth: depth + 1)
        case .array(let elements):
            let nested: Location = if case .field(let names) = location { .element(of: names) } else { .innerElement }
            let contents = elements.lazy.enumerated().map { index, value in
                let inner = isShown ? ElementPath.appending(index, to: path) : path
                return Child(value: value, name: String(index), location: nested, path: inner)
            }
            appendContents(contents, count: elements.count, of: path, isMap: false, isShown: isShown, depth: depth + 1)
        default: break
        }
    }

    /// A value of a map or array.
    private struct Child {
        let value: Value
        let name: String
        let location: Location
        let path: String
    }

    /// Appends the values of a map or array, all of them if it is expanded or contains what is.
    private mutating func appendContents(
        _ contents: some Sequence<Child>,
        count: Int,
        of path: String,
        isMap: Bool,
        isShown: Bool,
        depth: Int
    ) {
        let expansion = isShown ? Expansion(of: path, in: expanded) : .none
        for (index, child) in contents.prefix(expansion == .none ? Self.containerLimit : Int.max).enumerated() {
            append(
                child.value,
                name: child.name,
                location: child.location,
                path: child.path,
                parent: path,
                depth: depth,
                isFirstOfMore: expansion == .whole && index == Self.containerLimit
            )
        }
        appendLink(after: count, of: path, isMap: isMap, isExpanded: expansion != .none, depth: depth)
    }

    /// The relation of a map or array to the one of which more than the first values are shown.
    private enum Expansion {
        case none
        /// The map or array contains it, maybe beyond its own first values.
        case ofContents
        /// The map or array is the one.
        case whole

        init(of path: String, in expanded: String?) {
            guard let expanded, expanded.utf8.starts(with: path.utf8) else {
                self = .none
                return
            }
            switch expanded.utf8.dropFirst(path.utf8.count).first {
            case nil: self = .whole
            case UInt8(ascii: "."), UInt8(ascii: "["): self = .ofContents
            default: self = .none
            }
        }
    }

    /// Appends the link to more of the values of a map or array, or to fewer, unless there are few.
    private mutating func appendLink(after count: Int, of path: String, isMap: Bool, isExpanded: Bool, depth: Int) {
        guard count > Self.containerLimit, rows.count < Self.limit || isExpanded else { return }
        let link: LinkView
        if isExpanded {
            let limit = NumberFormat.grouped(Self.containerLimit)
            link = LinkView(
                url: AdminURL.document(document),
                text: DisplayText(localized("Show the first {limit}", ["limit": limit]))
            )
        } else {
            let counts: KeyValuePairs<StaticString, String> = ["count": NumberFormat.grouped(count)]
            let text =
                isMap
                ? localized("Show more of the {count} fields", counts) : localized("Show more of the {count} elements", counts)
            link = LinkView(
                url: AdminURL.document(document, query: [("all", UTF8Key(path))]) + "#" + FieldRow.moreID,
                text: DisplayText(text)
            )
        }
        rows.append(FieldRow(depth: depth, path: DisplayText(path + " …"), content: .link(link, parent: DisplayText(path))))
        self.count += 1
    }

    private static func hasContents(_ value: Value) -> Bool {
        switch value {
        case .map(let map): !map.isEmpty
        case .array(let elements): !elements.isEmpty
        default: false
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
    /// The number of values of a map or array that are shown at first.
    private static let containerLimit = 100
}
