import DocumentModel
import HearthService
import StrictJSON

/// A call of the interface, with what its address says. Its body is read when it is answered.
protocol Call: Sendable {
    /// What a caller must be allowed to.
    static var right: Role { get }
    /// The fields that may stand in the URL's query.
    static var parameters: [MessageField] { get }
    static var takesBody: Bool { get }
    /// How many bytes an answer may well have; see `RPCMethod`.
    static var expectedAnswerBytes: Int { get }

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError)

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer
}

extension Call {
    static var parameters: [MessageField] { [] }
    static var takesBody: Bool { true }
    static var expectedAnswerBytes: Int { 16 << 10 }
}

extension [MessageField] {
    /// The fields of a request, with what every request can say and makes no difference here.
    static func request(_ fields: MessageField...) -> [MessageField] {
        fields + ["requestOptions"]
    }

    /// The same of a request whose fields stand in the URL.
    static func parameters(_ fields: MessageField...) -> [MessageField] {
        fields + ["requestOptions.requestTags"]
    }
}
