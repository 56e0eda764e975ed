import DocumentModel
import HearthAPI
import UTF8Text

/// The view model of the filter form.
struct FilterFormView: Sendable {
    /// A row of the form.
    struct Row: Sendable {
        let index: Int
        let filter: FilterRow
        let operators: [FormOption]
        let types: [FormOption]
    }

    private let action: String
    private let rows: [Row]
    /// The other items of the URL's query, submitted as hidden fields.
    private let hiddenFields: [FormOption]
    private let fields: [FormOption]
    private let isOpen: Bool

    /// Creates the form for a request's filters, with a blank row if there are none.
    ///
    /// - Parameter fields: The suggested fields.
    init(_ request: CollectionRequest, fields: [FieldPath]) {
        action = AdminURL.collection(request.path)
        isOpen = !request.filters.isEmpty
        let filters = request.filters.isEmpty ? [FilterRow()] : request.filters
        rows = filters.enumerated().map { index, filter in
            let filter = filter.escaped
            return Row(
                index: index,
                filter: filter,
                operators: Condition.Operator.allCases.map { op in
                    FormOption(op.rawValue, Self.text(of: op), isSelected: op == filter.op)
                },
                types: ValueInput.Kind.allCases.map { kind in
                    FormOption(kind.rawValue, kind.name, isSelected: kind == filter.operand.kind)
                }
            )
        }
        var rest = request
        rest.filters = []
        rest.cursor = nil
        hiddenFields = Self.hiddenFields(of: rest)
        self.fields = fields.prefix(Self.fieldLimit).map { FormOption(FieldPathText.text($0), "", isSelected: false) }
    }

    /// Returns the query items of a request's URL as hidden form fields, except values with invisible characters.
    static func hiddenFields(of request: CollectionRequest) -> [FormOption] {
        request.items.compactMap { name, value in
            let isPlain = DisplayText(value.string).runs.allSatisfy { $0.mark == nil }
            return isPlain ? FormOption(value.string, "\(name)", isSelected: false) : nil
        }
    }

    private static let fieldLimit = 100

    private static func text(of op: Condition.Operator) -> String {
        switch op {
        case .equal: "="
        case .notEqual: "≠"
        case .less: "<"
        case .lessOrEqual: "≤"
        case .greater: ">"
        case .greaterOrEqual: "≥"
        case .in: localized("is one of")
        case .notIn: localized("is none of")
        case .arrayContains: localized("contains")
        case .arrayContainsAny: localized("contains any of")
        case .near: localized("is within a radius")
        case .within: localized("is within a box")
        }
    }
}

extension FilterFormView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "action": action
        case "rows": rows
        case "hiddenFields": hiddenFields
        case "fieldsMarkup": fields.optionsMarkup
        case "isOpen": isOpen
        case "canAdd": rows.count < CollectionRequest.maximumFilterCount
        default: nil
        }
    }
}

extension FilterFormView.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "index": index
        case "number": index + 1
        case "field": filter.field
        case "operatorsMarkup": operators.optionsMarkup
        case "typesMarkup": types.optionsMarkup
        case "text": filter.operand.text
        case "rowError": (filter.error.map { DisplayText($0) }).orAbsent
        case "isRemovable": !filter.isBlank || index > 0
        default: nil
        }
    }
}
