import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// The view model of the filter form.
struct FilterFormView: ViewModel {
    /// A row of the form.
    struct Row: ViewModel {
        let index: Int
        /// The number of the row's group; `nil` in a form without groups.
        let group: String?
        /// The one-based number of the row, for screen readers.
        let number: Int
        let field: String
        let operatorsMarkup: Markup
        let typesMarkup: Markup
        let text: String
        let rowError: DisplayText?
        let isRemovable: Bool

        init(_ filter: FilterRow, at index: Int, group: Int? = nil, isRemovable: Bool) {
            let filter = filter.escaped
            self.index = index
            self.group = group.map(String.init)
            number = index + 1
            field = filter.field
            let operators = Condition.Operator.allCases.map { ($0.rawValue, FilterFormView.text(of: $0)) }
            // Beside the other ranges.
            let options = operators.prefix(6) + [(FilterRow.prefixOperator, localized("begins with"))] + operators.dropFirst(6)
            operatorsMarkup =
                options.map { name, text in
                    FormOption(name, text, isSelected: UTF8Key(name) == UTF8Key(filter.operatorName))
                }
                .optionsMarkup
            typesMarkup =
                ValueInput.Kind.allCases.map { kind in
                    FormOption(kind.rawValue, kind.name, isSelected: kind == filter.operand.kind)
                }
                .optionsMarkup
            text = filter.operand.text
            rowError = filter.error.map { DisplayText($0) }
            self.isRemovable = isRemovable
        }
    }

    private let action: String
    private let rows: [Row]
    /// The other items of the URL's query, submitted as hidden fields.
    private let hiddenFields: [HiddenField]
    private let fieldsMarkup: Markup
    private let isOpen: Bool
    private let canAdd: Bool

    /// Creates the form for a request's filters, with a blank row if there are none.
    ///
    /// - Parameters:
    ///   - filters: The rows for the filters.
    ///   - fields: The suggested fields.
    init(_ request: CollectionRequest, filters: [FilterRow], fields: [FieldPath]) {
        action = AdminURL.collection(request.path)
        isOpen = !filters.isEmpty
        rows = (filters.isEmpty ? [FilterRow()] : filters).enumerated().map { index, filter in
            Row(filter, at: index, isRemovable: !filter.isBlank || index > 0)
        }
        canAdd = rows.count < CollectionRequest.maximumFilterCount
        var rest = request
        rest.filters = []
        rest.cursor = nil
        hiddenFields = Self.hiddenFields(of: rest)
        fieldsMarkup =
            fields.prefix(Self.fieldLimit).map { FormOption(FieldPathText.text($0), "", isSelected: false) }.optionsMarkup
    }

    /// Returns the query items of a request's URL as hidden form fields, except values with invisible characters.
    static func hiddenFields(of request: CollectionRequest) -> [HiddenField] {
        request.items.compactMap { name, value in
            let isPlain = DisplayText(value.string).runs.allSatisfy { $0.mark == nil }
            return isPlain ? HiddenField(name: "\(name)", value: value.string) : nil
        }
    }

    /// The maximum number of suggested fields.
    static let fieldLimit = 100

    fileprivate static func text(of op: Condition.Operator) -> String {
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
