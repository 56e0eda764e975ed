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

    /// Returns the query page with the results or the plan of the query in the URL.
    func show() async -> PageResponse {
        await request.respond(with: page())
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
            return QueryPage(text: text, query: query, outcome: outcome, error: nil, commands: commands)
        } catch let error as CollectionQuery.ValidationError {
            return QueryPage(text: text, query: query, outcome: nil, error: error, commands: commands)
        } catch let error as StatusError where error.code.httpStatus < 500 {
            let invalid = CollectionQuery.ValidationError(error.rpcError, filterCount: 0)
            return QueryPage(text: text, query: query, outcome: nil, error: invalid, commands: commands)
        } catch {
            let failure = error as? StatusError ?? StatusError(.internal, "The query failed.", cause: error)
            return ErrorPage(request.environment.errors.presentable(failure))
        }
    }

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
