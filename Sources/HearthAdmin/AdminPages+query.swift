import DocumentModel
import DocumentStore
import HearthService
import JSONRPC
import StrictJSON

extension AdminPages {
    /// The page of the query in the address: what it finds, or how it is answered.
    func queryPage(for request: PageRequest) async -> any Page {
        let items = request.items
        let curl = curl(for: request)
        guard let text = items["query"]?.string else {
            return QueryPage(text: await exampleQuery, query: nil, answer: nil, fault: nil, curl: curl)
        }
        var query: QueryText?
        do {
            let read = try QueryText(text)
            query = read
            let answer = try await read.answer(explaining: items["explain"] != nil, in: context)
            return QueryPage(text: text, query: query, answer: answer, fault: nil, curl: curl)
        } catch let fault as CollectionQuery.Fault {
            return QueryPage(text: text, query: query, answer: nil, fault: fault, curl: curl)
        } catch let error as StatusError where error.code.httpStatus < 500 {
            let fault = CollectionQuery.Fault(error.rpcError, filterCount: 0)
            return QueryPage(text: text, query: query, answer: nil, fault: fault, curl: curl)
        } catch let error as StatusError {
            log(error)
            return ProblemPage(error)
        } catch {
            return ProblemPage(StatusError(.internal, "The query can’t be answered.", cause: error))
        }
    }

    /// A query to begin with, of a collection that there is.
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
            return (try? JSONText(writer.finish()).root).map(JSONOutline.text) ?? ""
        }
    }
}
