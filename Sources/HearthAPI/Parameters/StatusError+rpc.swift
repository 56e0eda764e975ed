package import DocumentModel
import HearthWire
package import JSONRPC
import UTF8Text

/// The mapping of errors to JSON-RPC: the canonical status number as the code, and `data: {status, path?, field?, write?,
/// retryAfterMilliseconds?, executed?, oldest?, readTime?, epoch?, progress?, file?}`.
///
/// Paths are document paths, or file paths relative to the data folder. The cause of an error is not sent. For an internal error
/// (``StatusCode/internal``), the client receives only the ID of the log entry.
extension StatusError: RPCErrorConvertible {
    package var rpcError: RPCError {
        var data: RPCErrorData = [:]
        data[ErrorDataKeys.status] = .string(code.name)
        data[ErrorDataKeys.path] = path.map { .string($0) }
        data[ErrorDataKeys.field] = field.map { .string($0) }
        if let writeIndex {
            data[ErrorDataKeys.write] = .integer(writeIndex)
            // All methods with several writes use this name for the parameter.
            data[ErrorDataKeys.parameter] = .string("params.writes[\(writeIndex)]")
        }
        if let parameterPath {
            data[ErrorDataKeys.parameter] = .string("params.\(parameterPath)")
        }
        data[ErrorDataKeys.retryAfterMilliseconds] = retryAfter.map { .integer($0.wholeMilliseconds) }
        data[ErrorDataKeys.executed] = isExecuted.map { .boolean($0) }
        if isDecided { data[CommitIdentityErrorKeys.decided] = .boolean(true) }
        switch identityMismatch {
        case .gap(let expected)?:
            data[CommitIdentityErrorKeys.reason] = .string(CommitIdentityErrorKeys.gap)
            data[CommitIdentityErrorKeys.expected] = .integer(Int(clamping: expected))
        case .forgotten(let expected)?:
            data[CommitIdentityErrorKeys.reason] = .string(CommitIdentityErrorKeys.forgotten)
            data[CommitIdentityErrorKeys.expected] = expected.map { .integer(Int(clamping: $0)) }
        case .reused?:
            data[CommitIdentityErrorKeys.reason] = .string(CommitIdentityErrorKeys.reused)
        case nil: break
        }
        if let readPosition {
            data[QueryResponseKeys.readTime] = .string(readPosition.time.rfc3339)
            data[QueryResponseKeys.epoch] = .string(readPosition.epoch)
        }
        data[ErrorDataKeys.oldest] = oldestSequence.map { .integer(Int(clamping: $0)) }
        data[ErrorDataKeys.progress] = progress.map { progress in
            var members: RPCErrorData = [:]
            members[ProgressKeys.documentsDone] = .integer(progress.completedCount)
            members[ProgressKeys.documentsTotal] = progress.totalCount.map { .integer($0) }
            members[ProgressKeys.percent] = progress.percentage.map { .integer($0) }
            members[ProgressKeys.secondsLeft] = progress.timeLeft.map { .integer(Int($0.components.seconds) + 1) }
            return .object(members)
        }
        data[ErrorDataKeys.file] = file.map { file in
            var members: RPCErrorData = [:]
            members[FileLocationKeys.path] = .string(file.path)
            members[FileLocationKeys.line] = file.line.map { .integer($0) }
            members[FileLocationKeys.column] = file.column.map { .integer($0) }
            return .object(members)
        }
        return RPCError(code == .internal ? .internalError : RPCErrorCode(rawValue: code.rawValue), message, data: data)
    }
}

extension RPCError {
    /// The canonical code of the error, in all protocols but JSON-RPC.
    package var statusCode: StatusCode {
        StatusCode(rawValue: code.rawValue) ?? (code == .invalidParams ? .invalidArgument : .internal)
    }

    /// The time after which the call may be tried again; `nil` if the error says nothing about it.
    package var retryAfter: Duration? {
        guard case .integer(let milliseconds)? = data[ErrorDataKeys.retryAfterMilliseconds] else { return nil }
        return .milliseconds(milliseconds)
    }

    /// Creates the error for a parameter value that the model rejects, with the location of the parameter.
    init(_ error: StatusError, at location: ParameterLocation) {
        self = error.rpcError
        data[ErrorDataKeys.parameter] = .string(location.description + (error.parameterPath.map { ".\($0)" } ?? ""))
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
    package var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension StatusCode {
    /// The names of the codes of errors for which the server is to blame.
    static let serverErrorNames = Set(allCases.filter { RPCErrorCode(rawValue: $0.rawValue).isServerFault }.map(\.name))
}
