import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON

/// A page to write a whole query on, and to see what it finds and how.
struct QueryPage: Page {
    static let template = TemplateLibrary.Name.query

    /// A number that an aggregation gives.
    struct NamedNumber: Sendable {
        let name: DisplayText
        let value: ValueView
    }

    var chrome = PageChrome(title: localized("Query"))
    private let text: String
    private let fault: DisplayText?
    private let faultPlace: String?
    private let call: CallView?
    private var headers: [ColumnHeader] = []
    private var rows: [CollectionRow] = []
    private var count: String?
    private var numbers: [NamedNumber] = []
    private var plan: [String] = []
    private var facts: [String] = []
    private var damaged: DamagedFiles?

    var status: HTTPResponse.Status { fault == nil ? .ok : .badRequest }

    /// The page of a query.
    ///
    /// - Parameters:
    ///   - text: The query as it was written; an example when nothing was.
    ///   - query: The query, where it could be read.
    ///   - answer: What it comes to; nil when nothing was asked for, or the query is faulty.
    init(text: String, query: QueryText?, answer: QueryText.Answer?, fault: CollectionQuery.Fault?, curl: CurlCommand) {
        self.text = VisibleJSON.text(Array(text.utf8))
        self.fault = fault.map { DisplayText($0.message) }
        faultPlace = fault?.place
        call = query.map { CallView($0.call, curl: curl) }
        var values = ValueViewBuilder()
        switch answer {
        case .documents(let documents, let damaged, let hasMore):
            let columns = CollectionColumns(of: documents, fields: CollectionColumns.fields(of: documents, depth: 1))
            headers = columns.shown.map { ColumnHeader($0) }
            rows = documents.map { document in
                let link = LinkView(url: AdminURL.document(document.path), text: DisplayText(document.path.string))
                return CollectionRow(document, link: link, columns: columns.shown, values: &values)
            }
            self.damaged = DamagedFiles(damaged)
            count =
                hasMore
                ? localized("The first {shown} documents", ["shown": Counting.grouped(documents.count)])
                : localized(count: documents.count, one: "{count} document", other: "{count} documents")
        case .numbers(let results, let damaged):
            numbers = results.map { NamedNumber(name: DisplayText($0.key.string), value: values.view(of: $0.value, in: .line)) }
            self.damaged = DamagedFiles(damaged)
        case .explanation(let result):
            plan = result.work.plan
            facts = [
                localized(count: result.resultCount, one: "{count} result", other: "{count} results"),
                localized(
                    count: result.work.entriesScanned,
                    one: "{count} entry of the index looked at",
                    other: "{count} entries of the index looked at"
                ),
                localized(count: result.work.documentsRead, one: "{count} document read", other: "{count} documents read"),
                localized("{time} ms", ["time": Number.text(Double(Int(result.duration / .microseconds(1))) / 1_000)]),
            ]
        case nil: break
        }
        chrome.colors = values.colors
    }

    func content(named name: String) -> Any? {
        switch name {
        case "text": text
        case "lines": min(24, max(6, text.utf8.count { $0 == UInt8(ascii: "\n") } + 2))
        case "action": AdminURL.query
        case "fault": fault.orAbsent
        case "faultPlace": faultPlace.orAbsent
        case "call": call.orAbsent
        case "headMarkup": headers.markup
        case "rowsMarkup": rows.markup(mayWrite: false, columnCount: max(1, headers.count))
        case "hasRows": !rows.isEmpty
        case "count": count.orAbsent
        case "numbers": numbers
        case "hasNumbers": !numbers.isEmpty
        case "plan": plan
        case "planFacts": facts
        case "hasPlan": !plan.isEmpty || !facts.isEmpty
        case "damaged": damaged.orAbsent
        case "isQueryPage": true
        default: nil
        }
    }
}

extension QueryPage.NamedNumber: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "value": value
        default: nil
        }
    }
}
