/// Firestore's canonical status codes, with their numbers.
///
/// The number is the JSON-RPC error code of a failed call, the name its `data.status`.
public enum StatusCode: Int, Sendable, Hashable, CaseIterable {
    /// The caller gave up.
    case cancelled = 1
    /// The cause is not known.
    case unknown = 2
    /// What was sent can never succeed, whatever the state of the database.
    case invalidArgument = 3
    /// The time allowed ran out; the operation may still have happened.
    case deadlineExceeded = 4
    /// The document, collection or other thing named does not exist.
    case notFound = 5
    /// What was to be created exists.
    case alreadyExists = 6
    /// The caller is known but may not do this.
    case permissionDenied = 7
    /// A limit or quota is used up.
    case resourceExhausted = 8
    /// The database is not in the state that the operation needs; repeating it unchanged does not help.
    case failedPrecondition = 9
    /// Another writer got in between; repeating the whole transaction may help.
    case aborted = 10
    /// A position lies outside what is kept.
    case outOfRange = 11
    /// There is no such operation here.
    case unimplemented = 12
    /// A fault in Hearth itself.
    case `internal` = 13
    /// The server can't answer now; repeating the call may help.
    case unavailable = 14
    /// Stored data is lost or damaged beyond repair.
    case dataLoss = 15
    /// The caller has not said, or not proven, who it is.
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

    /// The code with a canonical name; nil when there is none of that name.
    public init?(name: String) {
        guard let code = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = code
    }
}
