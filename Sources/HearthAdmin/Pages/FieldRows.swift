import DocumentModel
import StrictJSON

/// The fields of a document as lines, those of maps and arrays below their own.
struct FieldRows: Sendable {
    private(set) var rows: [FieldRow] = []
    /// How many lines there would be.
    private(set) var count = 0
    private(set) var values = ValueViewBuilder()

    init(of fields: MapValue) {
        for (key, value) in fields {
            append(value, name: key.string, isElement: false, path: FieldName.text(of: key), parent: nil, depth: 0)
        }
    }

    /// How many lines are left out.
    var hidden: Int { count - rows.count }

    private mutating func append(_ value: Value, name: String, isElement: Bool, path: String, parent: String?, depth: Int) {
        count += 1
        let isShown = rows.count < Self.limit
        let type = ValueType(of: value)
        if isShown {
            rows.append(
                FieldRow(
                    depth: depth,
                    parent: parent.map { DisplayText($0) },
                    name: DisplayText(name),
                    isElement: isElement,
                    path: DisplayText(path),
                    type: type,
                    value: view(of: value)
                )
            )
        }
        switch value {
        case .map(let map):
            for (key, value) in map {
                let inner = isShown ? FieldName.text(of: key, in: path) : path
                append(value, name: key.string, isElement: false, path: inner, parent: path, depth: depth + 1)
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() {
                let inner = isShown ? FieldName.text(of: index, in: path) : path
                append(value, name: String(index), isElement: true, path: inner, parent: path, depth: depth + 1)
            }
        default: break
        }
    }

    private mutating func view(of value: Value) -> ValueView {
        switch value {
        case .map(let map): .extent(ValueViewBuilder.extent(of: map))
        case .array(let elements): .extent(ValueViewBuilder.extent(of: elements))
        default: values.view(of: value, in: .line)
        }
    }

    private static let limit = 2_000
}
