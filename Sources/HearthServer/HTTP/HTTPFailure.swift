import DocumentModel
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import StrictJSON

/// A request that is refused before or beside the calls: a status, and an error in the form that calls have.
struct HTTPFailure: Error {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let error: RPCError

    init(_ status: HTTPResponse.Status, _ error: RPCError, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.error = error
    }

    init(_ status: HTTPResponse.Status, _ code: StatusCode, _ message: String, headers: HTTPFields = [:]) {
        self.init(status, StatusError(code, message).rpcError, headers: headers)
    }
}

extension HTTPFailure {
    /// The failure of the service, outside of a call.
    init(_ error: RPCError) {
        let code = StatusCode(rawValue: error.code.rawValue) ?? (error.code == .invalidParams ? .invalidArgument : .internal)
        self.init(HTTPResponse.Status(code: code.httpStatus), error)
    }

    /// The failure of Hummingbird or of a route, which knows no more than a status.
    init(_ error: any HTTPResponseError) {
        let code: StatusCode =
            switch error.status.code {
            case 401: .unauthenticated
            case 403: .permissionDenied
            case 404: .notFound
            case 500...599: .unavailable
            default: .invalidArgument
            }
        let message = (error as? HTTPError)?.body ?? error.status.reasonPhrase
        self.init(error.status, code, message, headers: (error as? HTTPError)?.headers ?? [:])
    }

    /// The response: `{"error": {code, message, data}}`, for calls with the members that make it a JSON-RPC response, and for
    /// those of Firestore's interface in its form.
    func response(to request: Request) -> Response {
        let json = request.isFirestoreCall ? firestoreJSON(inStream: request.isFirestoreStream) : json(toCall: request.isCall)
        var response = Response(json: json, status: status)
        response.headers.append(contentsOf: headers)
        return response
    }

    /// The body of the response.
    func json(toCall isCall: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if isCall {
            writer.key("jsonrpc")
            writer.string("2.0")
            writer.key("id")
            writer.null()
        }
        writer.key("error")
        error.write(to: &writer)
        writer.endObject()
        return writer.finish()
    }
}

extension Response {
    /// A response of JSON. The type has no charset: JSON knows none, and clients compare the whole header.
    init(json: [UInt8], status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}
