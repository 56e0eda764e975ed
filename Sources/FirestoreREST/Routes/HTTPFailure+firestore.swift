import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import StrictJSON
import UTF8Text

extension HTTPFailure {
    /// Creates the failure of a Firestore call. The message includes the error's locations, because clients read nothing else.
    init(firestore error: StatusError) {
        let status =
            switch error.code {
            // Google's mapping, where it differs from that of Hearth's own APIs.
            case .outOfRange: 400
            case .cancelled: 499
            default: error.code.httpStatus
            }
        let seconds = error.retryAfter.map { Int($0.components.seconds) + 1 }
        self.init(
            HTTPResponse.Status(code: status),
            error.code,
            error.messageWithLocation,
            headers: seconds.map { [.retryAfter: "\($0)"] } ?? [:]
        )
    }

    /// Returns the failure for a response that exceeds the memory limit for all responses.
    static func responseMemoryExhausted(isExecuted: Bool) -> HTTPFailure {
        HTTPFailure(.serviceUnavailable, .responseMemoryExhausted(isExecuted: isExecuted), headers: [.retryAfter: "1"])
    }

    /// Writes the ID of the request in the server's log, as Google's APIs do.
    private static func write(requestID: String, to writer: inout JSONWriter) {
        writer.key("details")
        writer.beginArray()
        writer.beginObject()
        writer.key("@type")
        writer.string("type.googleapis.com/google.rpc.RequestInfo")
        writer.key("requestId")
        writer.string(requestID)
        writer.endObject()
        writer.endArray()
    }

    /// Returns the response body in the form of Google APIs: `{"error": {"code": 404, "message": …, "status": "NOT_FOUND"}}`.
    ///
    /// - Parameter wrapsInArray: Whether to wrap it in an array, as the response of a streaming method.
    func firestoreJSON(wrapsInArray: Bool) -> [UInt8] {
        var writer = JSONWriter()
        if wrapsInArray { writer.beginArray() }
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        writer.key("code")
        writer.integer(Int64(status.code))
        writer.key("message")
        writer.string(error.message)
        writer.key("status")
        writer.string(error.statusCode.name)
        if case .string(let id)? = error.data["requestId"] { Self.write(requestID: id, to: &writer) }
        writer.endObject()
        writer.endObject()
        if wrapsInArray { writer.endArray() }
        return writer.finish()
    }
}
