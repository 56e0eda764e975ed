package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of an error object: `{"code", "message", "data"?}`.
package enum ErrorKeys {
    package static let code: UTF8Key = "code"
    package static let message: UTF8Key = "message"
    package static let data: UTF8Key = "data"
}

/// The members of the `data` of an error object.
package enum ErrorDataKeys {
    /// The name of the status code, such as `NOT_FOUND`.
    package static let status: UTF8Key = "status"
    /// The document or collection path; in a JSON-RPC protocol error the location of the invalid parameter.
    package static let path: UTF8Key = "path"
    /// The field path.
    package static let field: UTF8Key = "field"
    /// The index of the failed write.
    package static let write: UTF8Key = "write"
    /// The name of the method that does not exist.
    package static let method: UTF8Key = "method"
    /// The location of the invalid parameter.
    package static let parameter: UTF8Key = "parameter"
    /// The recommended delay before a retry.
    package static let retryAfterMilliseconds: UTF8Key = "retryAfterMilliseconds"
    /// True if the call was executed and only its result is missing; false if it was not.
    package static let executed: UTF8Key = "executed"
    /// The sequence number of the oldest retained commit.
    package static let oldest: UTF8Key = "oldest"
    /// The progress of the work without which the call cannot succeed.
    package static let progress: UTF8Key = "progress"
    /// The location in a damaged file.
    package static let file: UTF8Key = "file"
    /// The ID of an internal error in the server's log.
    package static let errorID: UTF8Key = "errorId"
}

/// The members of a location in a file: `{"path", "line"?, "column"?}`.
package enum FileLocationKeys {
    package static let path: UTF8Key = "path"
    package static let line: UTF8Key = "line"
    package static let column: UTF8Key = "column"
}

/// The members of the progress of a rebuild of the index: `{"documentsDone", "documentsTotal"?, "percent"?, "secondsLeft"?}`.
package enum ProgressKeys {
    package static let documentsDone: UTF8Key = "documentsDone"
    /// The number of all documents; absent while they are being counted.
    package static let documentsTotal: UTF8Key = "documentsTotal"
    package static let percent: UTF8Key = "percent"
    package static let secondsLeft: UTF8Key = "secondsLeft"
}

extension StatusError {
    /// Parses an error object; returns `nil` for any other value.
    ///
    /// The server writes error objects in its JSON-RPC layer, with these keys.
    package init?(json: JSONNode) {
        guard let number: Int64 = json.integer(ErrorKeys.code), let message = json[ErrorKeys.message]?.string else { return nil }
        let data = json[ErrorKeys.data]
        if let errorID = data?[ErrorDataKeys.errorID]?.string {
            self.init(.internal, "\(message). See error \(Excerpt(errorID)) in the server's log.")
            return
        }
        // In JSON-RPC protocol errors, `path` is the location in the parameters, which the message contains.
        let path = number > 0 ? data?[ErrorDataKeys.path]?.string : nil
        let file = data?[ErrorDataKeys.file].flatMap(FileLocation.init(json:))
        self.init(StatusCode(errorNumber: number), message, path: path, field: data?[ErrorDataKeys.field]?.string, file: file)
        writeIndex = data?.integer(ErrorDataKeys.write)
        isDecided = data?[CommitIdentityErrorKeys.decided]?.boolean ?? false
        identityMismatch = data.flatMap(CommitIdentityMismatch.init(json:))
        isExecuted = data?[ErrorDataKeys.executed]?.boolean
        readPosition = data.flatMap { try? DocumentReadPosition(json: $0) }
        if let wait: Int64 = data?.integer(ErrorDataKeys.retryAfterMilliseconds) { retryAfter = .milliseconds(wait) }
    }
}

extension JSONNode {
    /// True if the value is an error object as Hearth servers write them. Other JSON-RPC servers share the numbers of JSON-RPC's own errors.
    package var isHearthError: Bool {
        guard let number: Int64 = integer(ErrorKeys.code) else { return false }
        let data = self[ErrorKeys.data]
        let mark =
            switch number {
            case -32_601: ErrorDataKeys.method
            case -32_602: ErrorDataKeys.path
            case -32_603: ErrorDataKeys.errorID
            default: ErrorDataKeys.status
            }
        return data?[mark] != nil || data?[ErrorDataKeys.status] != nil
    }
}

extension CommitIdentityMismatch {
    /// Parses the `data` of an error; returns `nil` for that of any other error.
    fileprivate init?(json: JSONNode) {
        switch json[CommitIdentityErrorKeys.reason]?.string {
        case CommitIdentityErrorKeys.gap: self = .gap(expected: json.integer(CommitIdentityErrorKeys.expected) ?? 0)
        case CommitIdentityErrorKeys.forgotten: self = .forgotten(expected: json.integer(CommitIdentityErrorKeys.expected))
        case CommitIdentityErrorKeys.reused: self = .reused
        default: return nil
        }
    }
}

extension StatusError.FileLocation {
    /// Writes `{"path": …, "line"?: …, "column"?: …}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(FileLocationKeys.path, path)
        if let line, let column {
            writer.member(FileLocationKeys.line, line)
            writer.member(FileLocationKeys.column, column)
        }
        writer.endObject()
    }

    /// Parses a location; returns `nil` for any other value.
    package init?(json: JSONNode) {
        guard let path = json[FileLocationKeys.path]?.string else { return nil }
        if let line: Int = json.integer(FileLocationKeys.line), let column: Int = json.integer(FileLocationKeys.column) {
            self.init(path: path, line: line, column: column)
        } else {
            self.init(path: path)
        }
    }
}

extension StatusCode {
    /// Creates the code for the number of an error object. Positive numbers are status codes, negative ones are JSON-RPC's.
    init(errorNumber number: Int64) {
        self =
            switch number {
            case -32_700, -32_600, -32_602: .invalidArgument
            case -32_601: .unimplemented
            case -32_603: .internal
            default: Int(exactly: number).flatMap(StatusCode.init(rawValue:)) ?? .unknown
            }
    }
}
