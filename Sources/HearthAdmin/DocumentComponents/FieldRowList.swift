import DocumentModel
import UTF8Text

/// The fields of a document as rows; maps and arrays are followed by their contents.
struct FieldRowList: Sendable {
    private(set) var rows: [FieldRow] = []
    /// The number of rows including those beyond the limit.
    private(set) var count = 0
    private(set) var values = ValueViewBuilder()

    init(of fields: MapValue) {
        for (key, value) in fields {
            append(value, name: key.string, isElement: false, path: ElementPath.appending(key, to: nil), parent: nil, depth: 0)
        }
    }

    /// The number of rows beyond the limit.
    var hiddenCount: Int { count - rows.count }

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
                let inner = isShown ? ElementPath.appending(key, to: path) : path
                append(value, name: key.string, isElement: false, path: inner, parent: path, depth: depth + 1)
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() {
                let inner = isShown ? ElementPath.appending(index, to: path) : path
                append(value, name: String(index), isElement: true, path: inner, parent: path, depth: depth + 1)
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

    private static let limit = 2_000
}
