import DocumentModel
import HearthService
import StrictJSON

/// The form of the filters, ready for a page.
struct FilterFormView: Sendable {
    /// A row.
    struct Row: Sendable {
        let index: Int
        let filter: FilterRow
        let operators: [Option]
        let kinds: [Option]
    }

    private let action: String
    private let rows: [Row]
    /// What else the address says, which the form keeps.
    private let kept: [Option]
    private let fields: [Option]
    private let isOpen: Bool

    /// The form of a request's filters; one without any has an empty row.
    ///
    /// - Parameter fields: The fields to choose from.
    init(_ request: CollectionRequest, fields: [FieldPath]) {
        action = AdminURL.collection(request.path)
        isOpen = !request.filters.isEmpty
        let filters = request.filters.isEmpty ? [FilterRow()] : request.filters
        rows = filters.enumerated().map { index, filter in
            let filter = filter.visible
            return Row(
                index: index,
                filter: filter,
                operators: Condition.Operator.allCases.map { op in
                    Option(op.rawValue, Self.text(of: op), isCurrent: op == filter.op)
                },
                kinds: TypedText.Kind.allCases.map { kind in
                    Option(kind.rawValue, kind.name, isCurrent: kind == filter.operand.kind)
                }
            )
        }
        var rest = request
        rest.filters = []
        rest.cursor = nil
        kept = Self.items(of: rest)
        self.fields = fields.prefix(Self.fieldLimit).map { Option(FieldText.text($0), "", isCurrent: false) }
    }

    /// What an address says, as hidden fields of a form; without IDs that have characters which nobody sees.
    static func items(of request: CollectionRequest) -> [Option] {
        request.items.compactMap { name, value in
            let isPlain = DisplayText(value.string).runs.allSatisfy { $0.mark == nil }
            return isPlain ? Option(value.string, "\(name)", isCurrent: false) : nil
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
        case "kept": kept
        case "fieldsMarkup": fields.listMarkup
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
        case "operatorsMarkup": operators.listMarkup
        case "kindsMarkup": kinds.listMarkup
        case "text": filter.operand.text
        case "rowFault": (filter.fault.map { DisplayText($0) }).orAbsent
        case "isRemovable": !filter.isBlank || index > 0
        default: nil
        }
    }
}
