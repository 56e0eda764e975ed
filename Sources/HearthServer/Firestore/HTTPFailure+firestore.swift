import DocumentModel
import FirestoreREST
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import StrictJSON

extension HTTPFailure {
    /// The failure of a call of Firestore's interface: the error's places are in its text, since clients look nowhere else.
    init(firestore error: StatusError) {
        let status =
            switch error.code {
            // Where Google's mapping is another than that of Hearth's own interfaces.
            case .outOfRange: 400
            case .cancelled: 499
            default: error.code.httpStatus
            }
        let seconds = error.retryAfter.map { Int($0.components.seconds) + 1 }
        self.init(
            HTTPResponse.Status(code: status),
            error.code,
            error.messageWithPlaces,
            headers: seconds.map { [.retryAfter: "\($0)"] } ?? [:]
        )
    }

    /// There is no room for an answer.
    static func noRoom(isExecuted: Bool) -> HTTPFailure {
        HTTPFailure(.serviceUnavailable, .noRoom(isExecuted: isExecuted), headers: [.retryAfter: "1"])
    }

    /// The body of the response in the form of Google's interfaces: `{"error": {"code": 404, "message": …, "status": "NOT_FOUND"}}`.
    ///
    /// - Parameter inStream: Whether it stands in the place of a list of messages.
    func firestoreJSON(inStream: Bool) -> [UInt8] {
        var writer = JSONWriter()
        if inStream { writer.beginArray() }
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        writer.key("code")
        writer.integer(Int64(status.code))
        writer.key("message")
        writer.string(error.message)
        writer.key("status")
        if case .string(let name)? = error.data["status"] { writer.string(name) } else { writer.string(StatusCode.internal.name) }
        writer.endObject()
        writer.endObject()
        if inStream { writer.endArray() }
        return writer.finish()
    }
}

extension Request {
    /// Whether it is for a call of Firestore's interface that is answered with a list of messages.
    var isFirestoreStream: Bool {
        isFirestoreCall && FirestoreCall.isStream(atPath: uri.path.utf8)
    }
}
