import DocumentModel
import StrictJSON

extension ImportReader {
    mutating func forEachRow(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var table = Table(plan: plan)
        var (part, isAtEnd) = (first, false)
        while !isAtEnd {
            isAtEnd = part.isEmpty
            table.rows.append(part)
            while let found = table.next() {
                switch found {
                case .success(let row):
                    let entry = entry(line: row.line, byteCount: row.byteCount) { () throws(StatusError) in try row.document() }
                    guard try await body(entry) else { return }
                case .failure(let fault):
                    _ = try await body(.failure(fault))
                    return
                }
            }
            guard !isAtEnd, let next = try await next(at: table.rows.line, body) else { return }
            part = next
        }
    }

    /// The rows of a table below its names.
    private struct Table {
        let plan: ImportPlan
        var rows = CSVRows()
        private var columns: CSVColumns?
        private var isMarked = false

        init(plan: ImportPlan) {
            self.plan = plan
        }

        /// A row with the columns that it is of.
        struct Row {
            let columns: CSVColumns
            let row: CSVRows.Row

            var line: Int { row.line }
            var byteCount: Int { row.byteCount }

            func document() throws(StatusError) -> (path: DocumentPath, fields: MapValue) {
                try columns.document(row.cells)
            }
        }

        /// The next row, or what is wrong with the table, after which nothing more is to be had; nil when more bytes are needed.
        mutating func next() -> Result<Row, ImportPlan.Fault>? {
            var line = rows.line
            do throws(StatusError) {
                while let row = try rows.next() {
                    if let columns { return .success(Row(columns: columns, row: row)) }
                    line = row.line
                    columns = try CSVColumns(row.cells, plan: plan, isMarked: rows.isMarked)
                    line = rows.line
                }
                return nil
            } catch {
                return .failure(.init(line: line, error: error))
            }
        }
    }
}
