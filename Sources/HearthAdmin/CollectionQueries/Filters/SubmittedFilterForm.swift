import DocumentModel
import UTF8Text

/// The submitted filter form: its rows and the pressed button.
///
/// The form uses GET, so its URL has a parameter for each input of a row. When all rows are valid, the page redirects to the
/// canonical URL, which has one parameter for each row.
struct SubmittedFilterForm: Sendable {
    /// The request with the submitted filters.
    let request: CollectionRequest
    /// True if the form must be shown again, with another row or with errors.
    let isIncomplete: Bool

    /// Decodes the form; returns `nil` if the URL query does not contain its fields.
    ///
    /// - Parameter types: Returns the types of a field's values, for operands without a type.
    init?(
        _ query: URLQuery,
        of request: CollectionRequest,
        types: (FieldPath) async -> FieldTypes
    ) async {
        let fields = query.values(of: "f")
        guard !fields.isEmpty else { return nil }
        let (ops, kinds, values) = (query.values(of: "op"), query.values(of: "t"), query.values(of: "v"))
        let removed = query["remove"].flatMap { Int($0.string) }
        var rows: [FilterRow] = []
        for (index, field) in fields.enumerated() where index != removed {
            var row = FilterRow(
                field: field.string,
                op: ops.indices.contains(index) ? ops[index].string : "",
                kind: kinds.indices.contains(index) ? kinds[index].string : "",
                text: values.indices.contains(index) ? values[index].string : ""
            )
            if row.isBlank { continue }
            if row.operand.kind == .automatic, let path = try? FieldPathText.path(row.field) {
                row = row.resolvingType(fitting: await types(path))
            }
            do throws(StatusError) {
                _ = try row.condition()
            } catch {
                row.error = error.message
            }
            rows.append(row)
        }
        rows = FilterRow.markingExcess(rows)
        let hasErrors = rows.contains { $0.error != nil }
        let addsRow = query["add"] != nil
        if addsRow { rows.append(FilterRow()) }
        var request = request
        request.filters = rows
        request.cursor = nil
        self.request = request
        isIncomplete = hasErrors || addsRow
    }
}
