import DocumentModel

/// The table of a document's fields.
struct DocumentFields: ViewModel {
    private let hasRows: Bool
    private let bodiesMarkup: Markup
    /// The number of rows beyond the limit; `nil` if all are shown.
    private let hiddenRows: String?

    init(_ fields: FieldRowList) {
        hasRows = !fields.rows.isEmpty
        bodiesMarkup = fields.rows.bodiesMarkup
        hiddenRows =
            fields.hiddenCount > 0
            ? localized(
                count: fields.hiddenCount,
                one: "{count} more row isn’t shown. The JSON view shows all fields.",
                other: "{count} more rows aren’t shown. The JSON view shows all fields."
            ) : nil
    }
}
