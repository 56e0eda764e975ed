import DocumentModel
package import JSONRPC
import UTF8Text

/// The mapping of errors to JSON-RPC: the canonical status number as code, and `data: {status, path?, field?, write?,
/// retryAfterMilliseconds?, oldest?, file?}`.
///
/// Paths are document paths, or file paths relative to the data folder. The cause of an error is not sent. For an internal error
/// (``StatusCode/internal``), the client receives only the ID of the log entry.
extension StatusError: RPCErrorConvertible {
    package var rpcError: RPCError {
        var data: RPCErrorData = ["status": .string(code.name)]
        data["path"] = path.map { .string($0) }
        data["field"] = field.map { .string($0) }
        if let writeIndex {
            data["write"] = .integer(writeIndex)
            // All methods with several writes name the parameter so.
            data["parameter"] = .string("params.writes[\(writeIndex)]")
        }
        if let parameterPath {
            data["parameter"] = .string("params.\(parameterPath)")
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
    /// Creates the error for a parameter value that the model rejects, with the location of the parameter.
    init(_ error: StatusError, at location: ParameterLocation) {
        self = error.rpcError
        data["parameter"] = .string(location.description + (error.parameterPath.map { ".\($0)" } ?? ""))
    }
}

extension ErrorDescription {
    /// Creates the description of a canonical status code in a method's list of errors.
    init(status code: StatusCode, _ message: String) {
        self.init(RPCErrorCode(rawValue: code.rawValue), message)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up.
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
