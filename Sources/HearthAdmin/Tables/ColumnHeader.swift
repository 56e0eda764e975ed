import DocumentModel
import StrictJSON

/// The head of a column: its name, its types, and the way to sort by it.
struct ColumnHeader: Sendable {
    private let name: DisplayText
    private let types: [ValueType]
    private let isNumeric: Bool
    /// Nil where the table can't be sorted.
    private let sortURL: String?
    private let direction: Direction?

    /// How the table is sorted by the column.
    private enum Direction: Sendable {
        case ascending
        case descending
    }

    /// The head of a column of a field.
    ///
    /// - Parameter request: The page whose table it is; nil where the table can't be sorted.
    init(_ column: CollectionColumns.Column, in request: CollectionRequest? = nil) {
        name = DisplayText(column.path.segments.count == 1 ? column.path.segments[0].string : column.path.description)
        types = column.types
        isNumeric = column.usualType?.isNumeric ?? false
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
        isNumeric = false
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

extension ColumnHeader: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "types": types.map(\.name).joined(separator: " · ")
        case "hasTypes": !types.isEmpty
        case "isMixed": types.filter { $0 != .null }.count > 1
        case "isNumeric": isNumeric
        case "sortURL": sortURL.orAbsent
        case "isAscending": direction == .ascending
        case "isDescending": direction == .descending
        default: nil
        }
    }
}
