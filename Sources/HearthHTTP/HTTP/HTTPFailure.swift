package import DocumentModel
package import HTTPTypes
import HearthAPI
import HearthWire
import HummingbirdCore
package import JSONRPC
package import Logging
import StrictJSON
import UTF8Text

/// An error response outside of RPC results: an HTTP status, headers and an error object.
package struct HTTPFailure: Error {
    package let status: HTTPResponse.Status
    package let headers: HTTPFields
    package private(set) var error: RPCError
    /// The failure of the request's credentials; `nil` if the failure is not about them.
    package private(set) var credentialsFailure: CredentialsFailure?

    /// A failure of credentials.
    package enum CredentialsFailure: Sendable {
        /// There are none, or they are not valid.
        case refused
        /// The ID token has expired, and its holder can get a new one.
        case expiredToken
    }

    package init(_ status: HTTPResponse.Status, _ error: RPCError, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.error = error
    }

    package init(_ status: HTTPResponse.Status, _ code: StatusCode, _ message: String, headers: HTTPFields = [:]) {
        self.init(status, StatusError(code, message).rpcError, headers: headers)
    }
}

extension HTTPFailure {
    /// Returns the failure with the ID of its request in the server's log, if the server is to blame for it.
    func ofRequest(_ id: String) -> HTTPFailure {
        var failure = self
        failure.error = error.ofRequest(id)
        return failure
    }

    /// The failure as one of a request's credentials.
    func ofCredentials(_ kind: CredentialsFailure = .refused) -> HTTPFailure {
        var failure = self
        failure.credentialsFailure = kind
        return failure
    }

    /// Creates the failure for an error of the service.
    init(_ error: RPCError) {
        self.init(HTTPResponse.Status(code: error.statusCode.httpStatus), error, headers: error.retryHeaders)
    }

    /// Creates the failure for an unexpected error, which is logged with an ID. The client gets the ID only.
    package static func unexpected(_ error: any Error, _ message: Logger.Message, logger: Logger) -> HTTPFailure {
        HTTPFailure(.internalServerError, .internal(error, message, logger: logger))
    }

    /// The response body `{"error": {code, message, data}}`.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        return finish(&writer)
    }

    /// The response body as a JSON-RPC response object, with the ID null.
    var jsonRPC: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.null()
        return finish(&writer)
    }

    private func finish(_ writer: inout JSONWriter) -> [UInt8] {
        writer.key("error")
        error.write(to: &writer)
        writer.endObject()
        return writer.finish()
    }
}

extension RPCError {
    /// The `Retry-After` header for the delay in the error's data, rounded up to seconds.
    var retryHeaders: HTTPFields {
        guard case .integer(let milliseconds)? = data[ErrorDataKeys.retryAfterMilliseconds] else { return [:] }
        return [.retryAfter: "\((milliseconds + 999) / 1_000)"]
    }

    /// Logs an unexpected error, and returns the error for the client, which contains only the ID of the log entry.
    static func `internal`(_ error: any Error, _ message: Logger.Message, logger: Logger) -> RPCError {
        let errorID = UnexpectedError.newErrorID()
        logger.error(message, metadata: ["error": "\(error)", "error.id": "\(errorID)"])
        return RPCError(.internalError, "Internal error", data: ["errorId": .string(errorID)])
    }
}
