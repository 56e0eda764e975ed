internal import UTF8Text

/// The error type of the model, the store and the client: a canonical code, a message, and the location of the error.
///
/// The message is human-readable. It says what was expected, what was found and what to do. It quotes at most a short escaped
/// excerpt of untrusted text, and never a secret. Programs use ``code``, ``path`` and ``field``.
public struct StatusError: Error, Sendable {
    /// The canonical code.
    public var code: StatusCode
    /// The message: what was expected, what was found, and what to do.
    public var message: String
    private var box: Box?

    /// Creates an error with all known locations.
    public init(
        _ code: StatusCode,
        _ message: String,
        path: String? = nil,
        field: String? = nil,
        file: FileLocation? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        guard path != nil || field != nil || file != nil || cause != nil else { return }
        details = Details(path: path, field: field, file: file, cause: cause)
    }

    /// The path of the affected document or collection, relative to the database.
    public var path: String? {
        get { details.path }
        set { details.path = newValue }
    }

    /// The affected field, as a canonical field path with `[i]` for the elements of arrays, such as `tags[2].color`.
    public var field: String? {
        get { details.field }
        set { details.field = newValue }
    }

    /// The path of the invalid request parameter, such as `where.and[1].op` in a query; `nil` if the error is not about one.
    public var parameterPath: String? {
        get { details.parameterPath }
        set { details.parameterPath = newValue }
    }

    /// The location of the error in the decoded JSON, also part of ``message``; `nil` if no JSON was decoded.
    package var sourceLocation: SourceLocation? {
        get { details.sourceLocation }
        set { details.sourceLocation = newValue }
    }

    /// The index of the failed write in its commit, from 0; `nil` if the error is not about one write.
    public var writeIndex: Int? {
        get { details.writeIndex }
        set { details.writeIndex = newValue }
    }

    /// The recommended delay before a retry; `nil` if there is none.
    public var retryAfter: Duration? {
        get { details.retryAfter }
        set { details.retryAfter = newValue }
    }

    /// False if the server has refused the call before executing it, so that it can be sent again; `nil` if the error does not say so.
    package var isExecuted: Bool? {
        get { details.isExecuted }
        set { details.isExecuted = newValue }
    }

    /// True if the call may have been executed, since no answer to it has come.
    package var isOutcomeUnknown: Bool {
        get { details.isOutcomeUnknown }
        set { details.isOutcomeUnknown = newValue }
    }

    /// True if a commit with an identity was not made, neither by this call nor by an earlier one.
    package var isDecided: Bool {
        get { details.isDecided }
        set { details.isDecided = newValue }
    }

    /// The reason why a commit was refused for its identity; `nil` for other errors.
    package var identityMismatch: CommitIdentityMismatch? {
        get { details.identityMismatch }
        set { details.identityMismatch = newValue }
    }

    /// The sequence number of the oldest retained commit, if the requested one is older; `nil` for other errors.
    package var oldestSequence: UInt64? {
        get { details.oldestSequence }
        set { details.oldestSequence = newValue }
    }

    /// The position as of which a document does not exist; `nil` for other errors.
    package var readPosition: DocumentReadPosition? {
        get { details.readPosition }
        set { details.readPosition = newValue }
    }

    /// The progress of the work without which the call cannot succeed; `nil` if there is none.
    package var progress: Progress? {
        get { details.progress }
        set { details.progress = newValue }
    }

    /// The location in the damaged file, if the error is about one.
    public var file: FileLocation? {
        get { details.file }
        set { details.file = newValue }
    }

    /// The underlying error. For the log only; never sent to a caller.
    public var cause: (any Error)? {
        get { details.cause }
        set { details.cause = newValue }
    }

    /// The progress of a rebuild of the index, which queries require.
    package struct Progress: Sendable, Hashable {
        /// The number of documents that have been read.
        package let completedCount: Int
        /// The number of all documents; `nil` while they are being counted.
        package let totalCount: Int?
        /// The completed part of the work, from 0 to 1; `nil` while the total is unknown.
        package let fraction: Double?
        /// The estimated time until the work is complete; `nil` while it is unknown.
        package let timeLeft: Duration?

        /// Creates a progress.
        package init(completedCount: Int, totalCount: Int?, fraction: Double?, timeLeft: Duration?) {
            self.completedCount = completedCount
            self.totalCount = totalCount
            self.fraction = fraction
            self.timeLeft = timeLeft
        }

        /// The completed part in percent, rounded down; `nil` while the total is unknown.
        package var percentage: Int? { fraction.map { Int(min(max($0, 0), 1) * 100) } }
    }

    /// A location in a text.
    package struct SourceLocation: Sendable, Hashable {
        /// The line, from 1.
        package let line: Int
        /// The column in Unicode scalars, from 1.
        package let column: Int
        /// The byte offset in the text, from 0.
        package let offset: Int

        /// The suffix of a message with this location.
        var messageSuffix: String { " (Line \(line), column \(column), byte \(offset) of the JSON.)" }
    }

    /// The error without ``sourceLocation``, for callers that report the location separately.
    package var withoutSourceLocation: StatusError {
        guard let suffix = sourceLocation?.messageSuffix.utf8, message.utf8.suffix(suffix.count).elementsEqual(suffix) else {
            return self
        }
        var error = self
        error.message = String(Substring(message.utf8.dropLast(suffix.count)))
        error.sourceLocation = nil
        return error
    }

    /// A file in the data folder, optionally with a line and column.
    public struct FileLocation: Sendable, Hashable {
        /// The path of the file or folder, relative to the data folder.
        public let path: String
        /// The line, from 1; `nil` for the file or folder as a whole.
        public let line: Int?
        /// The column in Unicode scalars, from 1; `nil` if the line is `nil`.
        public let column: Int?

        /// Creates the location of a file or folder as a whole.
        public init(path: String) {
            self.path = path
            line = nil
            column = nil
        }

        /// Creates a location inside a file.
        public init(path: String, line: Int, column: Int) {
            self.path = path
            self.line = line
            self.column = column
        }
    }
}

extension StatusError {
    /// The optional properties.
    private struct Details: Sendable {
        var path: String?
        var field: String?
        var parameterPath: String?
        var sourceLocation: SourceLocation?
        var writeIndex: Int?
        var retryAfter: Duration?
        var isExecuted: Bool?
        var isOutcomeUnknown = false
        var isDecided = false
        var identityMismatch: CommitIdentityMismatch?
        var oldestSequence: UInt64?
        var readPosition: DocumentReadPosition?
        var progress: Progress?
        var file: FileLocation?
        var cause: (any Error)?
    }

    /// Heap storage for the details, which keeps the error small: every throwing call and every task reserves space for one.
    private final class Box: Sendable {
        let details: Details

        init(_ details: Details) {
            self.details = details
        }
    }

    private var details: Details {
        get { box?.details ?? Details() }
        set { box = Box(newValue) }
    }
}

extension StatusError: CustomStringConvertible {
    /// One line for a log or a terminal: code, message and locations, without control characters.
    ///
    /// Excludes the ``cause``, which belongs in log metadata.
    public var description: String {
        var locations: [String] = []
        if let path { locations.append("path \(Excerpt(path, maximumBytes: Self.maximumLocationBytes))") }
        if let field { locations.append("field \(Excerpt(field, maximumBytes: Self.maximumLocationBytes))") }
        if let parameterPath { locations.append("at \(parameterPath)") }
        if let writeIndex { locations.append("write \(writeIndex)") }
        if let file {
            locations.append("file \(Excerpt(file.path, maximumBytes: Self.maximumLocationBytes))\(file.lineAndColumn)")
        }
        return "\(code.name): \(message)" + (locations.isEmpty ? "" : " (" + locations.joined(separator: "; ") + ")")
    }

    /// The maximum length of a path or field in the description, in bytes: that of a name.
    private static let maximumLocationBytes = DocumentLimits.maximumNameBytes
}

extension StatusError.FileLocation {
    fileprivate var lineAndColumn: String {
        guard let line, let column else { return "" }
        return ", line \(line), column \(column)"
    }
}

extension StatusError {
    /// Returns the error with the index of the write in its commit.
    package func withWriteIndex(_ index: Int) -> StatusError {
        var error = self
        error.writeIndex = index
        return error
    }
}
