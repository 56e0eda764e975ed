import HTTPTypes
import UTF8Text

/// An action on a document or collection, selected by a query item such as `?edit`.
enum DataAction: UTF8Key, CaseIterable, Sendable {
    case edit
    case value
    case new
    case delete
    case history
    case columns
    case references
    case restore

    init?(_ query: URLQuery) {
        guard let action = Self.allCases.first(where: { query[$0.rawValue] != nil }) else { return nil }
        self = action
    }

    /// The HTTP methods that the action supports.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .columns: [.post]
        case .references: [.get, .head]
        case .edit, .value, .new, .delete, .history, .restore: [.get, .head, .post]
        }
    }
}
