import DocumentModel
import HearthAPI
import JSONRPC
import Logging

/// Logs the server errors of page requests.
struct PageErrorLog: Sendable {
    var logger: Logger

    /// Returns the log of a request.
    func ofRequest(_ id: String) -> PageErrorLog {
        var log = self
        log.logger[metadataKey: "http.request.id"] = "\(id)"
        return log
    }

    /// Returns the error to show to the user. A server error is logged, and an internal one is replaced with a reference to its
    /// log entry. A rebuild of the index, which logs its own progress, is not logged.
    func presentable(_ error: StatusError) -> StatusError {
        error.code.httpStatus >= 500 && error.progress == nil ? recordAndRedact(error) : error
    }

    /// Returns the error of one of many items to show to the user: an internal one is logged and replaced with a reference to its
    /// log entry.
    func presentableItem(_ error: StatusError) -> StatusError {
        error.code == .internal ? recordAndRedact(error) : error
    }

    /// Logs an error and returns the error to send: an internal error is replaced with a reference to its log entry.
    func recordAndRedact(_ error: StatusError) -> StatusError {
        let id = error.code == .internal ? UnexpectedError.newErrorID() : nil
        record(error, id: id)
        return id.map { StatusError(.internal, "Internal server error. The server log has the cause under error.id \($0).") }
            ?? error
    }

    private func record(_ error: StatusError, id: String?) {
        var metadata: Logger.Metadata = [
            "error": "\(error)", "error.cause": "\(error.cause.map(String.init(describing:)) ?? "none")",
        ]
        metadata["error.id"] = id.map { "\($0)" }
        logger.error("Admin page request failed", metadata: metadata)
    }
}
