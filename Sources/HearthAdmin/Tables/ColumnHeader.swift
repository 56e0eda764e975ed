import DocumentModel
import UTF8Text

/// A column header: the field's name, its types and a link to sort by it.
struct ColumnHeader: Sendable {
    let kind: Kind
    let name: DisplayText
    /// The text of the column's field in forms and URLs; `nil` if the values can't be filtered.
    let field: String?
    let types: [ValueType]
    /// The URL that sorts by the column; `nil` if the table isn't sortable.
    let sortURL: String?
    /// The sort direction; `nil` if the table isn't sorted by the column.
    let direction: Direction?

    /// The kind of a column's values.
    enum Kind: Sendable {
        case ids
        case numbers
        case others
    }

    enum Direction: Sendable {
        case ascending
        case descending
    }

    /// True if the values have several types, not counting null, and all numbers as one type.
    var isMixed: Bool {
        guard let predominant = types.first else { return false }
        return types.contains { $0 != .null && !$0.isComparable(to: predominant) }
    }

    /// Creates the header of a field's column.
    ///
    /// - Parameter request: The request of the page; `nil` if the table isn't sortable.
    init(_ column: CollectionColumns.Column, in request: CollectionRequest? = nil) {
        name = DisplayText(column.path.segments.count == 1 ? column.path.segments[0].string : column.path.description)
        types = column.types
        kind = column.predominantType?.isNumeric == true ? .numbers : .others
        field = request == nil ? nil : FieldPathText.text(column.path)
        if let request {
            (sortURL, direction) = Self.sorting(by: column.path, in: request)
        } else {
            (sortURL, direction) = (nil, nil)
        }
    }

    /// Creates the header of the ID column.
    init(ofIDsIn request: CollectionRequest) {
        name = DisplayText(localized("ID"))
        field = nil
        types = []
        kind = .ids
        let isDescending = request.orders.first == CollectionRequest.Order(field: .documentName, isDescending: true)
        direction = request.orders.isEmpty ? .ascending : isDescending ? .descending : nil
        sortURL = request.url { request in
            request.orders = request.orders.isEmpty ? [.init(field: .documentName, isDescending: true)] : []
            request.cursor = nil
        }
    }

    /// Returns the current direction and the URL that selects the next one: ascending, descending, unsorted.
    private static func sorting(by field: FieldPath, in request: CollectionRequest) -> (url: String, direction: Direction?) {
        let order = request.orders.first { $0.field == field }
        let url = request.url { request in
            request.orders =
                switch order?.isDescending {
                case nil: [.init(field: field)]
                case false?: [.init(field: field, isDescending: true)]
                case true?: []
                }
            request.cursor = nil
        }
        return (url, order.map { $0.isDescending ? .descending : .ascending })
    }
}
