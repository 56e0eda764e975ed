import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The outcome of a query: its documents, its aggregates or its plan.
struct QueryResultsView: ViewModel {
    /// The result of an aggregation.
    struct Aggregate: ViewModel {
        let name: DisplayText
        let value: ValueView
    }

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
    /// The index that the explained query would benefit from; `nil` if there is none.
    private let indexAdvice: IndexAdviceView?

    /// - Parameters:
    ///   - indexAdvice: The index that an explained query would benefit from.
    ///   - values: Collects the colors for the style sheet of the page.
    init(_ outcome: QueryInput.Outcome, indexAdvice: IndexAdviceView?, values: inout ValueViewBuilder) {
        self.indexAdvice = indexAdvice
        var headers: [ColumnHeader] = []
        var rows: [CollectionRow] = []
        switch outcome {
        case .documents(let documents, let damaged, let hasMore):
            let columns = CollectionColumns(of: documents)
            headers = columns.shown.map { ColumnHeader($0) }
            for document in documents {
                let link = LinkView(url: AdminURL.document(document.path), text: DisplayText(document.path.string))
                rows.append(CollectionRow(document, link: link, columns: columns.shown, values: &values))
            }
            self.damaged = DamagedFileList(damaged)
            count =
                hasMore
                ? localized("The first {shown} documents", ["shown": NumberFormat.grouped(documents.count)])
                : localized(count: documents.count, one: "{count} document", other: "{count} documents")
        case .aggregates(let results, let damaged):
            for (name, value) in results {
                aggregates.append(Aggregate(name: DisplayText(name.string), value: values.view(of: value, in: .detail)))
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
        }
        hasRows = !rows.isEmpty
        headMarkup = headers.markup
        rowsMarkup = rows.markup(canWrite: false, columnCount: max(1, headers.count))
        hasAggregates = !aggregates.isEmpty
        hasPlan = !plan.isEmpty || !planFacts.isEmpty
    }
}
