package import DocumentModel
package import HearthService
package import StrictJSON

/// A call of Firestore's REST interface, version 1, as an HTTP request makes it.
///
/// It is a translation: every call ends in the typed methods of the service, with their rights, rules and limits.
package struct FirestoreCall: Sendable {
    /// The database that it concerns.
    package let database: DatabaseName
    private let call: any Call

    /// The methods of HTTP that the interface uses.
    package enum HTTPMethod: Sendable {
        case get
        case post
        case patch
        case delete
    }

    /// What a request asks for.
    ///
    /// - Parameters:
    ///   - path: The path as it was sent, without the query.
    ///   - parameters: The items of the query, decoded.
    /// - Throws: ``StatusCode/notFound`` for what there is not, ``StatusCode/unimplemented`` for what is not offered here,
    ///   ``StatusCode/invalidArgument`` for wrong names and parameters.
    package init(
        _ method: HTTPMethod,
        path: some Collection<UInt8>,
        parameters: [(name: UTF8Key, value: UTF8Key)]
    ) throws(StatusError) {
        let address = try Address(path: path, hasVerb: method == .post)
        let type = try Self.callType(method, address)
        database = address.database
        call = try type.init(address, URLParameters(parameters, known: type.parameters))
    }

    /// Whether the request has a body that counts.
    package var takesBody: Bool { type(of: call).takesBody }

    /// How many bytes an answer may well have.
    package var expectedAnswerBytes: Int { type(of: call).expectedAnswerBytes }

    /// Does what is asked for.
    package func answer(to body: [UInt8], in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        try context.authorize(type(of: call).right)
        return try await call.answer(to: Self.message(body), in: context)
    }

    private static func message(_ body: [UInt8]) throws(StatusError) -> JSONNode {
        do throws(JSONSyntaxError) {
            return try JSONText(body.isEmpty ? Array("{}".utf8) : body, limits: .message).root
        } catch {
            throw StatusError(.invalidArgument, "Invalid JSON payload received. \(error)")
        }
    }
}

// Which call it is.
extension FirestoreCall {
    /// The calls of a database as a whole, and those of a document or the root, by their verbs.
    private static let databaseCalls: [UTF8Key: any Call.Type] = [
        "batchGet": BatchGetCall.self,
        "batchWrite": BatchWriteCall.self,
        "beginTransaction": BeginTransactionCall.self,
        "commit": CommitCall.self,
        "rollback": RollbackCall.self,
    ]
    private static let parentCalls: [UTF8Key: any Call.Type] = [
        "listCollectionIds": ListCollectionIDsCall.self,
        "partitionQuery": PartitionQueryCall.self,
        "runAggregationQuery": RunAggregationQueryCall.self,
        "runQuery": RunQueryCall.self,
    ]
    private static let absentVerbs: [UTF8Key] = ["executePipeline", "listen", "write"]
    private static let streamVerbs: [UTF8Key] = ["batchGet", "runAggregationQuery", "runQuery"]

    static let verbs = Set(databaseCalls.keys).union(parentCalls.keys).union(absentVerbs)

    /// Whether the answer at a path is a list of messages, and with it what tells of a failure.
    package static func isStream(atPath path: some BidirectionalCollection<UInt8>) -> Bool {
        streamVerbs.contains { verb in
            path.suffix(verb.byteCount + 1).elementsEqual([UInt8(ascii: ":")] + verb.utf8)
        }
    }

    private static func callType(_ method: HTTPMethod, _ address: Address) throws(StatusError) -> any Call.Type {
        let namesDocument = address.segments.count.isMultiple(of: 2)
        switch (method, address.verb) {
        case (.get, _) where address.segments.isEmpty || !namesDocument: return ListDocumentsCall.self
        case (.get, _): return GetDocumentCall.self
        case (.post, nil) where !namesDocument: return CreateDocumentCall.self
        case (.patch, _) where namesDocument && !address.segments.isEmpty: return UpdateDocumentCall.self
        case (.delete, _) where namesDocument && !address.segments.isEmpty: return DeleteDocumentCall.self
        case (.post, let verb?):
            if let call = parentCalls[verb] { return call }
            if let call = databaseCalls[verb], address.segments.isEmpty { return call }
            if absentVerbs.contains(verb) {
                throw StatusError(
                    .unimplemented,
                    "\(verb.string) is not offered over this interface. Listen with Hearth's own GET /watch, and query with runQuery."
                )
            }
            fallthrough
        default:
            throw StatusError(
                .notFound,
                "There is no such method of the interface: collections are listed (GET) and added to (POST), documents read (GET), "
                    + "written (PATCH) and deleted (DELETE)."
            )
        }
    }
}
