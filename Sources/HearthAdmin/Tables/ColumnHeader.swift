import DocumentModel
import StrictJSON

/// The head of a column: its name, its types, and the way to sort by it.
struct ColumnHeader: Sendable {
    let kind: Kind
    let name: DisplayText
    let types: [ValueType]
    /// Nil where the table can't be sorted.
    let sortURL: String?
    /// How the table is sorted by the column; nil when it isn't.
    let direction: Direction?

    /// What is in the column.
    enum Kind: Sendable {
        case ids
        case numbers
        case others
    }

    enum Direction: Sendable {
        case ascending
        case descending
    }

    /// Whether there are several types in the column.
    var isMixed: Bool { types.count { $0 != .null } > 1 }

    /// The head of a column of a field.
    ///
    /// - Parameter request: The page whose table it is; nil where the table can't be sorted.
    init(_ column: CollectionColumns.Column, in request: CollectionRequest? = nil) {
        name = DisplayText(column.path.segments.count == 1 ? column.path.segments[0].string : column.path.description)
        types = column.types
        kind = column.usualType?.isNumeric == true ? .numbers : .others
        if let request {
            (sortURL, direction) = Self.sorting(by: column.path, in: request)
        } else {
            (sortURL, direction) = (nil, nil)
        }
    }

    /// The head of the column of IDs.
    init(ofIDsIn request: CollectionRequest) {
        name = DisplayText(localized("ID"))
        types = []
        kind = .ids
        let isDescending = request.orders.first == CollectionRequest.Order(field: .documentName, isDescending: true)
        direction = request.orders.isEmpty ? .ascending : isDescending ? .descending : nil
        sortURL = request.url { request in
            request.orders = request.orders.isEmpty ? [.init(field: .documentName, isDescending: true)] : []
            request.cursor = nil
        }
    }

    /// The present direction and the way to the next one: the least first, the greatest first, and the order of IDs in turn.
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
