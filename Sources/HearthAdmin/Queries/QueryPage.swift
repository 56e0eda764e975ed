import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import UTF8Text

/// The query page: an editor for queries, with the results or the query plan.
struct QueryPage: Page {
    static let template = TemplateLibrary.Name.query

    /// The result of an aggregation.
    struct Aggregate: ViewModel {
        let name: DisplayText
        let value: ValueView
    }

    var layout = PageLayout(title: localized("Query"), section: .query)
    let status: HTTPResponse.Status
    private let action = AdminURL.query
    private let text: String
    /// The number of lines of the editor.
    private let lines: Int
    private let queryError: DisplayText?
    private let errorPath: String?
    private let call: CallSnippet?
    private let hasRows: Bool
    private let headMarkup: Markup
    private let rowsMarkup: Markup
    /// The number of documents; `nil` for results of another kind.
    private var count: String?
    private let hasAggregates: Bool
    private var aggregates: [Aggregate] = []
    private let hasPlan: Bool
    private var plan: [String] = []
    private var planFacts: [String] = []
    private var damaged: DamagedFileList?

    /// Creates the page.
    ///
    /// - Parameters:
    ///   - text: The entered query, or an example.
    ///   - query: The parsed query, if it is valid JSON.
    ///   - outcome: The outcome; `nil` if no query was run or it is invalid.
    init(
        text: String,
        query: QueryInput?,
        outcome: QueryInput.Outcome?,
        error: CollectionQuery.ValidationError?,
        commands: ShellCommands
    ) {
        self.text = EscapedJSON.text(Array(text.utf8))
        lines = min(24, max(6, self.text.utf8.count { $0 == UInt8(ascii: "\n") } + 2))
        status = error == nil ? .ok : .badRequest
        queryError = error.map { DisplayText($0.message) }
        errorPath = error?.parameterPath
        call = query.map { CallSnippet($0.call, commands: commands) }
        var values = ValueViewBuilder()
        var headers: [ColumnHeader] = []
        var rows: [CollectionRow] = []
        switch outcome {
        case .documents(let documents, let damaged, let hasMore):
            let columns = CollectionColumns(of: documents, fields: CollectionColumns.fields(of: documents, depth: 1))
            headers = columns.shown.map { ColumnHeader($0) }
            rows = documents.map { document in
                let link = LinkView(url: AdminURL.document(document.path), text: DisplayText(document.path.string))
                return CollectionRow(document, link: link, columns: columns.shown, values: &values)
            }
            self.damaged = DamagedFileList(damaged)
            count =
                hasMore
                ? localized("The first {shown} documents", ["shown": NumberFormat.grouped(documents.count)])
                : localized(count: documents.count, one: "{count} document", other: "{count} documents")
        case .aggregates(let results, let damaged):
            aggregates = results.map {
                Aggregate(name: DisplayText($0.key.string), value: values.view(of: $0.value, in: .detail))
            }
            self.damaged = DamagedFileList(damaged)
        case .explanation(let result):
            plan = result.metrics.plan
            planFacts = [
                localized(count: result.resultCount, one: "{count} result", other: "{count} results"),
                localized(
                    count: result.metrics.entriesScanned,
                    one: "{count} index entry scanned",
                    other: "{count} index entries scanned"
                ),
                localized(count: result.metrics.documentsRead, one: "{count} document read", other: "{count} documents read"),
                localized("{time} ms", ["time": NumberFormat.roundTrip(Double(Int(result.duration / .microseconds(1))) / 1_000)]),
            ]
        case nil: break
        }
        hasRows = !rows.isEmpty
        headMarkup = headers.markup
        rowsMarkup = rows.markup(canWrite: false, columnCount: max(1, headers.count))
        hasAggregates = !aggregates.isEmpty
        hasPlan = !plan.isEmpty || !planFacts.isEmpty
        layout.colors = values.colors
    }
}
