import UTF8Text

/// An action on a document or collection, selected by a query item such as `?edit`.
enum DataAction: UTF8Key, CaseIterable, Sendable {
    case edit
    case value
    case new
    case delete
    case history
    case restore

    init?(_ query: URLQuery) {
        guard let action = Self.allCases.first(where: { query[$0.rawValue] != nil }) else { return nil }
        self = action
    }
}
