import DocumentModel
package import JSONRPC
import StrictJSON

/// A failure of model or store as a call's error: the canonical number as code, and `data: {status, path?, field?, write?,
/// retryAfterMilliseconds?, oldest?, file?}`.
///
/// Paths are those of documents, and of files relative to the data folder. What lies behind the error stays with the server;
/// of a failure of Hearth itself (``StatusCode/internal``) the client is told nothing but the id of the log's entry.
extension StatusError: RPCErrorConvertible {
    package var rpcError: RPCError {
        var data: RPCErrorData = ["status": .string(code.name)]
        data["path"] = path.map { .string($0) }
        data["field"] = field.map { .string($0) }
        if let writeIndex {
            data["write"] = .integer(writeIndex)
            // The methods that take several writes all call them so.
            data["parameter"] = .string("params.writes[\(writeIndex)]")
        }
        if let place {
            data["parameter"] = .string("params.\(place)")
        }
        data["retryAfterMilliseconds"] = retryAfter.map { .integer($0.wholeMilliseconds) }
        data["oldest"] = oldestSequence.map { .integer(Int(clamping: $0)) }
        data["file"] = file.map { file in
            var members: RPCErrorData = ["path": .string(file.path)]
            members["line"] = file.line.map { .integer($0) }
            members["column"] = file.column.map { .integer($0) }
            return .object(members)
        }
        return RPCError(code == .internal ? .internalError : RPCErrorCode(rawValue: code.rawValue), message, data: data)
    }
}

extension RPCError {
    /// The error for a parameter whose text or value the model refuses: the model's own, with the place in the call.
    init(_ error: StatusError, at location: ParameterLocation) {
        self = error.rpcError
        data["parameter"] = .string(location.description + (error.place.map { ".\($0)" } ?? ""))
    }
}

extension ErrorDescription {
    /// The description of a canonical code in a method's list of errors.
    init(status code: StatusCode, _ message: String) {
        self.init(RPCErrorCode(rawValue: code.rawValue), message)
    }
}

extension Duration {
    /// The time in milliseconds, rounded up.
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
