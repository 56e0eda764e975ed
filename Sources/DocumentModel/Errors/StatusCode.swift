/// The canonical status codes of gRPC and Firestore.
///
/// A failed JSON-RPC call has the number as its error code, and the name as `data.status`.
public enum StatusCode: Int, Sendable, Hashable, CaseIterable {
    /// The operation was cancelled.
    case cancelled = 1
    /// An error of unknown cause.
    case unknown = 2
    /// The request is invalid, regardless of the state of the database.
    case invalidArgument = 3
    /// The deadline expired. The operation may still have been applied.
    case deadlineExceeded = 4
    /// The requested document, collection or other resource doesn't exist.
    case notFound = 5
    /// The resource to create already exists.
    case alreadyExists = 6
    /// The caller is authenticated but lacks permission.
    case permissionDenied = 7
    /// A limit or quota is exhausted.
    case resourceExhausted = 8
    /// The database is not in the state that the operation requires. Don't retry the operation unchanged.
    case failedPrecondition = 9
    /// A conflict with a concurrent write. Retry the whole transaction.
    case aborted = 10
    /// A position outside the retained history.
    case outOfRange = 11
    /// The operation is not implemented.
    case unimplemented = 12
    /// An internal error: a bug in Hearth.
    case `internal` = 13
    /// The server is temporarily unavailable. Retry the call.
    case unavailable = 14
    /// Unrecoverable data loss or corruption.
    case dataLoss = 15
    /// The caller has no valid credentials.
    case unauthenticated = 16

    /// The canonical name, such as `NOT_FOUND`.
    public var name: String {
        switch self {
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internal: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }

    /// Creates a code from its canonical name, or `nil` if there is no such code.
    public init?(name: String) {
        guard let code = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = code
    }
}
