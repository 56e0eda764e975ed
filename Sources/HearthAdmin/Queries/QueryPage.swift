import DocumentModel
import HTTPTypes
import HearthAPI
import UTF8Text

/// The query page: an editor for queries, with the results or the query plan.
struct QueryPage: Page {
    static let template = TemplateLibrary.Name.query

    var layout = PageLayout(title: localized("Query"), section: .query)
    let status: HTTPResponse.Status
    private let action = AdminURL.query
    private let resultsURL = AdminURL.queryResults
    private let text: String
    /// The number of lines of the editor.
    private let lines: Int
    private let queryError: DisplayText?
    private let errorPath: String?
    /// The line and column of a syntax error in the editor, from 1; `nil` for another error.
    private let errorLine: Int?
    private let errorColumn: Int?
    private let call: CallSnippet?
    /// The query as code for each library.
    private let libraries: [QueryCode]
    private let hasCode: Bool
    private let results: QueryResultsView?
    private let viewsMarkup: Markup

    /// Creates the page.
    ///
    /// - Parameters:
    ///   - text: The entered query, or an example.
    ///   - query: The parsed query, if it is valid JSON.
    ///   - outcome: The outcome; `nil` if no query was run or it is invalid.
    ///   - indexAdvice: The index that an explained query would benefit from.
    init(
        text: String,
        query: QueryInput?,
        outcome: QueryInput.Outcome?,
        indexAdvice: IndexAdviceView? = nil,
        error: CollectionQuery.ValidationError?,
        commands: ShellCommands
    ) {
        self.text = EscapedJSON.text(Array(text.utf8))
        lines = min(24, max(6, self.text.utf8.count { $0 == UInt8(ascii: "\n") } + 2))
        status = error == nil ? .ok : .badRequest
        queryError = error.map { DisplayText($0.message) }
        errorPath = error?.parameterPath
        let linesBeforeError = error?.offset.map { offset in
            EscapedJSON.text(Array(text.utf8.prefix(offset))).unicodeScalars
                .split(separator: "\n", omittingEmptySubsequences: false)
        }
        errorLine = linesBeforeError?.count
        errorColumn = linesBeforeError?.last.map { $0.count + 1 }
        call = query.map { CallSnippet($0.call, commands: commands) }
        let isAggregation = if case .aggregates? = outcome { true } else { false }
        libraries = isAggregation ? [] : query.map { QueryCode.all(params: $0.params) } ?? []
        hasCode = !libraries.isEmpty
        var values = ValueViewBuilder()
        results = outcome.map { QueryResultsView($0, indexAdvice: indexAdvice, values: &values) }
        viewsMarkup = QueryBuilderPage.views(json: text, showsBuilder: false)
        layout.colors = values.colors
    }
}
