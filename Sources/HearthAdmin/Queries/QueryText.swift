import DocumentModel
import DocumentStore
import HearthService
import JSONRPC
import StrictJSON

/// A query as a person writes it: the parameters of `query.run`, or with `aggregations` among them those of `query.aggregate`.
struct QueryText: Sendable {
    /// What a query comes to.
    enum Answer: Sendable {
        case documents([Document], damaged: [StatusError], hasMore: Bool)
        case numbers(MapValue, damaged: [StatusError])
        case explanation(ExplainQuery.Result)
    }

    let params: [UInt8]
    private let isAggregation: Bool

    /// Takes what was written.
    ///
    /// - Throws: A fault with the place in the text where it is no JSON.
    init(_ text: String) throws(CollectionQuery.Fault) {
        do throws(JSONSyntaxError) {
            let root = try JSONText(text).root
            params = Array(root.rawBytes)
            isAggregation = root["aggregations"] != nil
        } catch {
            throw CollectionQuery.Fault(message: "This is not JSON: \(error)", filter: nil)
        }
    }

    /// The call that gives the same.
    var call: TriedCall { TriedCall(isAggregation ? AggregateQuery.name : RunQuery.name, params: params) }

    /// Runs the query, or has it explained.
    ///
    /// - Throws: `CollectionQuery.Fault` where the query breaks a rule, `StatusError` where it can't be answered.
    func answer(explaining: Bool, in context: ServiceContext) async throws -> Answer {
        if explaining {
            return .explanation(try await ExplainQuery.call(Self.parameters(ExplainQuery.self, params), in: context))
        }
        if isAggregation {
            let answer = try await AggregateQuery.call(Self.parameters(AggregateQuery.self, params), in: context)
            return .numbers(answer.results, damaged: answer.damaged)
        }
        var asked = try Self.parameters(RunQuery.self, params)
        let isBound = asked.query.limit.map { $0 <= Self.limit } ?? false
        // One more tells whether there are more.
        if !isBound { asked.query = asked.query.page(after: nil, limit: Self.limit + 1) }
        let answer = try await RunQuery.call(asked, in: context)
        var documents: [Document] = []
        for document in answer.documents { documents.append(try document.decoded()) }
        let hasMore = documents.count > Self.limit
        if hasMore { documents = asked.query.isReversed ? documents.suffix(Self.limit) : Array(documents.prefix(Self.limit)) }
        return .documents(documents, damaged: answer.damaged, hasMore: hasMore)
    }

    private static func parameters<Method: RPCMethod>(_ method: Method.Type, _ params: [UInt8]) throws -> Method.Params {
        do {
            return try method.params(from: Arguments(json: params, of: method))
        } catch let error as any RPCErrorConvertible {
            throw CollectionQuery.Fault(error.rpcError, filterCount: 0)
        }
    }

    /// How many documents a page shows.
    static let limit = 200
}
