package import DocumentModel
import FirestoreAPI
package import FirestoreMessages
package import HearthAPI
import StrictJSON
package import UTF8Text

/// A call to Firestore's REST API, version 1, made by an HTTP request.
///
/// It is a translation layer: every call goes through the typed methods of the service, with their authorization, rules and limits.
package struct FirestoreCall: Sendable {
    /// The database that the call addresses.
    package let database: DatabaseName
    private let call: any RESTCall

    /// An HTTP method that the API uses.
    package enum HTTPMethod: Sendable {
        case get
        case post
        case patch
        case delete
    }

    /// Parses a request.
    ///
    /// - Parameters:
    ///   - path: The percent-encoded path without the query.
    ///   - parameters: The decoded items of the query.
    /// - Throws: ``StatusCode/notFound`` for an unknown path or method, ``StatusCode/unimplemented`` for an unsupported method,
    ///   ``StatusCode/invalidArgument`` for invalid names and parameters.
    package init(
        _ method: HTTPMethod,
        path: some Collection<UInt8>,
        parameters: [(name: UTF8Key, value: UTF8Key)]
    ) throws(StatusError) {
        let requestPath = try RequestPath(path: path, verbs: method == .post ? Self.verbs : [])
        let type = try Self.callType(method, requestPath)
        database = requestPath.database
        call = try type.init(requestPath, URLParameters(parameters, known: type.parameters))
    }

    /// The name of its method in Firestore's API, one of ``methodNames``.
    package var methodName: String { type(of: call).name }

    /// True if the call reads the request body.
    package var acceptsBody: Bool { type(of: call).acceptsBody }

    /// True if the call changes documents.
    package var isWrite: Bool { type(of: call).requiredPermission.role == .writer }

    /// The typical size of a response.
    package var expectedResponseBytes: Int { type(of: call).expectedResponseBytes }

    /// Executes the call.
    package func respond(to body: [UInt8], in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        try context.authorize(type(of: call).requiredPermission)
        return try await call.respond(to: Self.message(body), in: context)
    }

    private static func message(_ body: [UInt8]) throws(StatusError) -> JSONNode {
        do throws(JSONSyntaxError) {
            return try JSONText(body.isEmpty ? Array("{}".utf8) : body, limits: .message).root
        } catch {
            throw StatusError(.invalidArgument, "Invalid JSON payload received. \(error)")
        }
    }
}

// Routing.
extension FirestoreCall {
    /// The calls on a database, by verb.
    private static let databaseCalls: [UTF8Key: any RESTCall.Type] = [
        "batchGet": BatchGetCall.self,
        "batchWrite": BatchWriteCall.self,
        "beginTransaction": BeginTransactionCall.self,
        "commit": CommitCall.self,
        "rollback": RollbackCall.self,
    ]
    /// The calls on a document or the root, by verb.
    private static let parentCalls: [UTF8Key: any RESTCall.Type] = [
        "listCollectionIds": ListCollectionIDsCall.self,
        "partitionQuery": PartitionQueryCall.self,
        "runAggregationQuery": RunAggregationQueryCall.self,
        "runQuery": RunQueryCall.self,
    ]
    /// The calls on a document or a collection, by the method of the request alone.
    private static let plainCalls: [any RESTCall.Type] = [
        CreateDocumentCall.self, DeleteDocumentCall.self, GetDocumentCall.self, ListDocumentsCall.self, UpdateDocumentCall.self,
    ]
    /// The names of all methods, sorted.
    package static let methodNames = [plainCalls, Array(databaseCalls.values), Array(parentCalls.values)]
        .flatMap { calls in calls.map { $0.name } }.sorted()
    private static let unsupportedVerbs: [UTF8Key] = ["executePipeline", "listen", "write"]
    private static let streamVerbs: [UTF8Key] = ["batchGet", "runAggregationQuery", "runQuery"]

    private static let verbs = Set(databaseCalls.keys).union(parentCalls.keys).union(unsupportedVerbs)

    /// Returns whether the response at a path, and therefore also an error response, is an array of messages.
    package static func isStream(atPath path: some BidirectionalCollection<UInt8>) -> Bool {
        streamVerbs.contains { verb in
            path.suffix(verb.byteCount + 1).elementsEqual([UInt8(ascii: ":")] + verb.utf8)
        }
    }

    private static func callType(_ method: HTTPMethod, _ requestPath: RequestPath) throws(StatusError) -> any RESTCall.Type {
        let namesDocument = requestPath.segments.count.isMultiple(of: 2)
        switch (method, requestPath.verb) {
        case (.get, _) where requestPath.segments.isEmpty || !namesDocument: return ListDocumentsCall.self
        case (.get, _): return GetDocumentCall.self
        case (.post, nil) where !namesDocument: return CreateDocumentCall.self
        case (.patch, _) where namesDocument && !requestPath.segments.isEmpty: return UpdateDocumentCall.self
        case (.delete, _) where namesDocument && !requestPath.segments.isEmpty: return DeleteDocumentCall.self
        case (.post, let verb?):
            if let call = parentCalls[verb] { return call }
            if let call = databaseCalls[verb], requestPath.segments.isEmpty { return call }
            if unsupportedVerbs.contains(verb) {
                throw StatusError(
                    .unimplemented,
                    "\(verb.string) is not supported by this API. Use GET /watch to listen and runQuery to query."
                )
            }
            fallthrough
        default:
            throw StatusError(
                .notFound,
                "No such method at this path. Collections support GET (list) and POST (create); documents support GET, PATCH and "
                    + "DELETE."
            )
        }
    }
}
