import DocumentModel
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A call to one REST method, initialized from the request's path and query; its body is decoded when it is executed.
protocol RESTCall: Sendable {
    /// The name of the method in Firestore's API.
    static var name: String { get }
    /// The role required to make the call.
    static var requiredPermission: Permission { get }
    /// The fields accepted in the query.
    static var parameters: [ProtoField] { get }
    static var acceptsBody: Bool { get }
    /// The typical size of a response; see `RPCMethod`.
    static var expectedResponseBytes: Int { get }

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError)

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse
}

extension RESTCall {
    static var parameters: [ProtoField] { [] }
    static var acceptsBody: Bool { true }
    static var expectedResponseBytes: Int { 16 << 10 }
}

extension [ProtoField] {
    /// Returns the fields of a request, with `requestOptions`, which every request accepts and Hearth ignores.
    static func request(_ fields: ProtoField...) -> [ProtoField] {
        fields + ["requestOptions"]
    }

    /// Returns the query parameters of a request, with those of `requestOptions`.
    static func parameters(_ fields: ProtoField...) -> [ProtoField] {
        fields + ["requestOptions.requestTags"]
    }
}
