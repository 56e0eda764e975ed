import StrictJSON

/// What an address asks to be done with a document or a collection, by a word of its query.
enum DataAction: UTF8Key, CaseIterable, Sendable {
    case edit
    case new
    case delete
    case history
    case restore

    /// Takes the action from a query; nil when it asks for none.
    init?(_ query: Query) {
        guard let action = Self.allCases.first(where: { query[$0.rawValue] != nil }) else { return nil }
        self = action
    }
}
