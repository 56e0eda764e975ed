import DocumentModel
import StrictJSON
import UTF8Text

/// A filter made from a value that a page shows: for the documents with this value, or for those with another one.
struct ValueFilter: Sendable {
    /// The relation of the documents' values to the shown one.
    enum Relation: Sendable {
        /// The field has the value.
        case only
        /// The field has another value that isn't null.
        case not
        /// The array in the field has the value as an element.
        case containing
    }

    let field: FieldPath
    let value: Value
    let relation: Relation

    /// Returns a request for the documents that match this filter in addition to those of the request; `nil` if the value is too
    /// long for a URL.
    ///
    /// The filter replaces those on the same field that it implies or contradicts. The values excluded from one field are combined,
    /// because a query has at most one negation.
    func applied(to request: CollectionRequest) -> CollectionRequest? {
        guard value.json.count <= Self.maximumOperandBytes else { return nil }
        var request = request
        (request.cursor, request.offersValueFilters) = (nil, false)
        let filter: FilterRow?
        switch relation {
        case .only:
            request.filters.removeAll { isOnField($0) }
            filter = row(of: .equal, value)
        case .containing:
            request.filters.removeAll { isOnField($0) && $0.op == .arrayContains }
            filter = row(of: .arrayContains, value)
        case .not:
            // An inequality requires an order by its field before one by ID.
            request.orders.removeAll { $0.field.isDocumentName }
            filter = exclusion(replacing: &request.filters)
        }
        guard let filter else { return nil }
        request.filters.append(filter)
        return request
    }

    /// Returns the URL of the filtered collection; `nil` if the value is too long for it.
    func url(in request: CollectionRequest) -> String? { applied(to: request)?.url() }

    /// Returns the filter that excludes the value and those that other filters exclude from the field, which are removed.
    private func exclusion(replacing filters: inout [FilterRow]) -> FilterRow? {
        var excluded: [Value] = []
        filters.removeAll { known in
            guard isOnField(known), let operand = try? known.condition().operand, let old = Value(operand: operand) else {
                return false
            }
            switch (known.op, old) {
            case (.notEqual, _): excluded.append(old)
            case (.notIn, .array(let values)): excluded += values
            case (.equal, _): break
            default: return false
            }
            return true
        }
        // A negation never matches null, and null in a list would match nothing.
        excluded = (excluded + [value]).filter { $0 != .null }
        switch excluded.count {
        case 0: return row(of: .notEqual, .null)
        case 1: return row(of: .notEqual, excluded[0])
        case ...Self.maximumExcludedCount: return row(of: .notIn, .array(excluded))
        default: return nil
        }
    }

    private func row(of op: Condition.Operator, _ operand: Value) -> FilterRow {
        FilterRow(UTF8Key("\(FieldPathText.text(field)) \(op.rawValue) \(EscapedJSON.text(operand.json))"))
    }

    private func isOnField(_ row: FilterRow) -> Bool { (try? FieldPathText.path(row.field)) == field }

    private static let maximumOperandBytes = 1_500
    /// The maximum number of values in `not-in`.
    private static let maximumExcludedCount = 10
}

extension Value {
    /// Decodes the operand of a filter; `nil` if it is not a value.
    fileprivate init?(operand: [UInt8]) {
        guard let node = try? JSONText(operand).root, let value = try? Value(json: node) else { return nil }
        self = value
    }
}

/// The links beside a value to the documents with this value and to those with another one.
struct ValueFilterLinks: Sendable {
    /// The links, each with its class, for which the style sheet has a symbol, and its description.
    let links: [(url: String, className: StaticString, text: String)]

    /// Creates the links of a field's value; `nil` if there are none.
    init?(_ field: FieldPath, _ value: Value, in request: CollectionRequest) {
        self.init([.only, .not], field, value, in: request)
    }

    /// Creates the link of an array's element; `nil` if there is none.
    init?(element value: Value, of field: FieldPath, in request: CollectionRequest) {
        self.init([.containing], field, value, in: request)
    }

    private init?(_ relations: [ValueFilter.Relation], _ field: FieldPath, _ value: Value, in request: CollectionRequest) {
        links = relations.compactMap { relation in
            guard let url = ValueFilter(field: field, value: value, relation: relation).url(in: request) else { return nil }
            return switch relation {
            case .only: (url, "only", localized("Only this value"))
            case .not: (url, "not", localized("Not this value"))
            case .containing: (url, "containing", localized("Only arrays with this value"))
            }
        }
        if links.isEmpty { return nil }
    }

}

extension Markup {
    /// Writes the links beside a value: those that filter by it, and the one that edits it.
    mutating func valueLinks(_ filters: ValueFilterLinks?, editURL: String?) {
        guard filters != nil || editURL != nil else { return }
        raw(#"<span class="value-filters">"#)
        for link in filters?.links ?? [] { valueLink(to: link.url, link.className, link.text) }
        if let editURL { valueLink(to: editURL, "edit-value", localized("Edit value")) }
        raw("</span>")
    }

    private mutating func valueLink(to url: String, _ className: StaticString, _ title: String) {
        raw(#"<a class=""#)
        raw(className)
        raw(#"" href=""#)
        text(url)
        raw(#"" title=""#)
        text(title)
        raw(#"" aria-label=""#)
        text(title)
        raw(#""></a>"#)
    }
}
