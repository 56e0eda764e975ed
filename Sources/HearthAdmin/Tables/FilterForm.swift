import DocumentModel
import StrictJSON

/// What the form of the filters sent: its rows, and the button that was pressed.
///
/// The form is of the method GET: its address with a parameter for each field of a row is only an intermediate step. Where all rows
/// can be read it leads on to the address that says the same in one parameter a row.
struct FilterForm: Sendable {
    /// The request that the form asks for.
    let request: CollectionRequest
    /// Whether the form is to be shown again, with another row or with what is wrong.
    let isUnfinished: Bool

    /// Reads the form; nil when the query has nothing of it.
    init?(_ query: Query, of request: CollectionRequest) {
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
            do throws(StatusError) {
                _ = try row.condition()
            } catch {
                row.fault = error.message
            }
            rows.append(row)
        }
        rows = FilterRow.bounded(rows)
        let hasFaults = rows.contains { $0.fault != nil }
        let addsRow = query["add"] != nil
        if addsRow { rows.append(FilterRow()) }
        var request = request
        request.filters = rows
        request.cursor = nil
        self.request = request
        isUnfinished = hasFaults || addsRow
    }
}
