import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// A query entered on the query page: the parameters of `query.run`, or of `query.aggregate` if they include `aggregations`.
struct QueryInput: Sendable {
    /// The outcome of a query.
    enum Outcome: Sendable {
        case documents([Document], damaged: [StatusError], hasMore: Bool)
        case aggregates(MapValue, damaged: [StatusError])
        case explanation(ExplainQuery.Result)
    }

    let params: [UInt8]
    private let isAggregation: Bool

    /// Parses the text.
    ///
    /// - Throws: `CollectionQuery.ValidationError` with the line and column of a JSON syntax error.
    init(_ text: String) throws(CollectionQuery.ValidationError) {
        do throws(JSONSyntaxError) {
            let root = try JSONText(text).root
            params = Array(root.rawBytes)
            isAggregation = root["aggregations"] != nil
        } catch {
            throw CollectionQuery.ValidationError(message: "Invalid JSON: \(error)", filterIndex: nil, offset: error.offset)
        }
    }

    /// The equivalent method call.
    var call: MethodCall { MethodCall(isAggregation ? RunAggregationQuery.name : RunQuery.name, params: params) }

    /// Runs or explains the query.
    ///
    /// - Throws: `CollectionQuery.ValidationError` when the query is invalid, `StatusError` when it cannot be executed.
    func run(explaining: Bool, in context: ServiceContext) async throws -> Outcome {
        if explaining {
            return .explanation(try await ExplainQuery.call(Self.parameters(ExplainQuery.self, params), in: context))
        }
        if isAggregation {
            let result = try await RunAggregationQuery.call(Self.parameters(RunAggregationQuery.self, params), in: context)
            return .aggregates(result.results, damaged: result.damaged)
        }
        var request = try Self.parameters(RunQuery.self, params)
        let isLimited = request.query.limit.map { $0 <= Self.limit } ?? false
        // One more document than shown, to determine whether there are more.
        if !isLimited { request.query = request.query.page(after: nil, limit: Self.limit + 1) }
        let result = try await RunQuery.call(request, in: context)
        var documents: [Document] = []
        for document in result.documents { documents.append(try document.decoded()) }
        let hasMore = documents.count > Self.limit
        if hasMore { documents = request.query.isReversed ? documents.suffix(Self.limit) : Array(documents.prefix(Self.limit)) }
        return .documents(documents, damaged: result.damaged, hasMore: hasMore)
    }

    private static func parameters<Method: RPCMethod>(_ method: Method.Type, _ params: [UInt8]) throws -> Method.Params {
        do {
            return try method.params(from: Arguments(json: params, of: method))
        } catch let error as any RPCErrorConvertible {
            throw CollectionQuery.ValidationError(error.rpcError, filterCount: 0)
        }
    }

    /// The maximum number of documents on the page.
    static let limit = 200
}
