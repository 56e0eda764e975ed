import JSONRPC
import Logging
import StrictJSON

extension RPCError {
    /// The error for a failure that the client is told nothing of but the id of the entry that this puts into the log.
    static func `internal`(_ error: any Error, _ message: Logger.Message, logger: Logger) -> RPCError {
        let errorID = UnexpectedFailure.newErrorID()
        logger.error(message, metadata: ["error": "\(error)", "error.id": "\(errorID)"])
        return RPCError(.internalError, "Internal error", data: ["errorId": .string(errorID)])
    }
}
