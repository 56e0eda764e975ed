import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// The controller for the query page.
struct QueryController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Returns the query builder, or the page for queries as JSON, with the results or the plan of the query in the URL.
    func show() async -> PageResponse {
        if request.query["query"] != nil || request.query["view"] == "json" { return await request.respond(with: page()) }
        return await showBuilder()
    }

    private func page() async -> any Page {
        let items = request.query
        let commands = request.shellCommands
        guard let text = items["query"]?.string else {
            return QueryPage(text: await exampleQuery, query: nil, outcome: nil, error: nil, commands: commands)
        }
        var query: QueryInput?
        do {
            let input = try QueryInput(text)
            query = input
            let outcome = try await input.run(explaining: items["explain"] != nil, in: context)
            let advice = await indexAdvice(for: input.params, outcome)
            return QueryPage(text: text, query: query, outcome: outcome, indexAdvice: advice, error: nil, commands: commands)
        } catch {
            guard let invalid = Self.validationError(error) else { return failurePage(error) }
            return QueryPage(text: text, query: query, outcome: nil, error: invalid, commands: commands)
        }
    }

    /// Returns the error as one of the query; `nil` if the server has failed.
    private static func validationError(_ error: any Error) -> CollectionQuery.ValidationError? {
        switch error {
        case let error as CollectionQuery.ValidationError: error
        case let error as StatusError where error.code.httpStatus < 500:
            CollectionQuery.ValidationError(error.rpcError, filterCount: 0)
        default: nil
        }
    }

    private func failurePage(_ error: any Error) -> ErrorPage {
        let failure = error as? StatusError ?? StatusError(.internal, "The query failed.", cause: error)
        return ErrorPage(request.environment.errors.presentable(failure))
    }

    /// Returns the index that an explained query would benefit from; `nil` for other outcomes, and if the caller may not list indexes.
    private func indexAdvice(for params: [UInt8], _ outcome: QueryInput.Outcome) async -> IndexAdviceView? {
        guard case .explanation(let result) = outcome,
            let query = try? ExplainQuery.params(from: Arguments(json: params, of: ExplainQuery.self)).query
        else { return nil }
        let indexes = await request.resultIfPermitted { () async throws(StatusError) in
            try await ListIndexes.call((), in: context)
        }
        guard let indexes, let definition = IndexDefinition(for: query, explainedAs: result, besides: indexes) else { return nil }
        return IndexAdviceView(definition, returnURL: request.http.pathAndQuery)
    }
}

// The query builder.
extension QueryController {
    private func showBuilder() async -> PageResponse {
        guard var builder = QueryBuilder(request.query) else {
            var builder = QueryBuilder()
            builder.collection = await suggestedCollections(count: 1).first?.key.string ?? ""
            builder.limit = "20"
            return await respond(with: builder)
        }
        // A button that changes the form doesn't run the query.
        if let edited = builder.edited(by: request.query) { return await respond(with: edited) }
        let explains = request.query["explain"] != nil
        if let source = builder.source {
            let hasChanged = await builder.normalize { field in await FieldTypes(of: field, in: source, for: request) }
            var checked = builder
            if hasChanged, checked.validated() != nil { return .redirect(to: builder.url + (explains ? "&explain=1" : "")) }
        }
        guard let parameters = builder.validated() else { return await respond(with: builder) }
        do {
            let input = try QueryInput(String(decoding: parameters.json, as: UTF8.self))
            let outcome = try await input.run(explaining: explains, in: context)
            let advice = await indexAdvice(for: parameters.json, outcome)
            return await respond(with: builder, params: parameters.json, outcome: outcome, indexAdvice: advice)
        } catch {
            guard let invalid = Self.validationError(error) else { return await request.respond(with: failurePage(error)) }
            builder.add(invalid, parameters)
            return await respond(with: builder)
        }
    }

    private func respond(
        with builder: QueryBuilder,
        params: [UInt8]? = nil,
        outcome: QueryInput.Outcome? = nil,
        indexAdvice: IndexAdviceView? = nil
    ) async -> PageResponse {
        var shown = builder
        if let source = builder.source {
            for group in shown.groups.indices {
                shown.groups[group].rows = await shown.groups[group].rows.restoringAutomaticTypes { field in
                    await FieldTypes(of: field, in: source, for: request)
                }
            }
        }
        let page = QueryBuilderPage(
            shown,
            params: params,
            outcome: outcome,
            indexAdvice: indexAdvice,
            suggestions: await suggestions(for: builder),
            commands: request.shellCommands,
            owner: context.caller.keyID
        )
        return await request.respond(with: page)
    }

    private func suggestions(for builder: QueryBuilder) async -> QueryBuilderPage.Suggestions {
        var suggestions = QueryBuilderPage.Suggestions()
        suggestions.collections = await suggestedCollections(count: PageSize(Self.suggestionLimit))
        guard let source = builder.source else { return suggestions }
        let sample = await request.resultIfPermitted { () async throws(StatusError) in
            try await RunQuery.call(.init(NormalizedQuery(StructuredQuery(source, limit: .first(50)))), in: context)
        }
        let documents = (sample?.documents ?? []).compactMap { try? $0.decoded() }
        suggestions.fields = Array(
            CollectionColumns.fields(of: documents, limit: Self.suggestionLimit).prefix(Self.suggestionLimit)
        )
        return suggestions
    }

    private func suggestedCollections(count: PageSize) async -> [CollectionID] {
        let roots = await request.resultIfPermitted { () async throws(StatusError) in
            try await ListCollections.call(.init(pageSize: count), in: context)
        }
        return roots?.collections ?? []
    }

    private static let suggestionLimit = 100
}

extension QueryController {
    /// An example query of an existing collection.
    private var exampleQuery: String {
        get async {
            let roots = try? await ListCollections.call(.init(pageSize: 1), in: context)
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("collection")
            writer.string(roots?.collections.first?.key.string ?? "books")
            writer.key("orderBy")
            writer.beginArray()
            writer.beginObject()
            writer.key("field")
            writer.string(FieldPath.documentName.description)
            writer.endObject()
            writer.endArray()
            writer.key("limit")
            writer.integer(20)
            writer.endObject()
            return (try? JSONText(writer.finish()).root).map(JSONPrettyPrinter.text) ?? ""
        }
    }
}
