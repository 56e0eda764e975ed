internal import Foundation

/// The domain of the errors that Firestore reports.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// What kind of failure an error is, with Firestore's numbers.
///
/// ```swift
/// do {
///     try await book.updateData(["numberOfPages": 42])
/// } catch FirestoreErrorCode.notFound {
///     // There is no such book.
/// }
/// ```
public struct FirestoreErrorCode: Error, Hashable, Sendable {
    /// The kind.
    public let code: Code

    /// Makes a value of a kind.
    public init(_ code: Code) {
        self.code = code
    }

    /// The kind of an error; nil for one of another domain.
    public init?(_ error: any Error) {
        // Through Any: on Linux a cast from Error is taken to succeed always, and doesn't.
        let error = error as Any as? NSError
        guard let error, error.domain == FirestoreErrorDomain, let code = Code(rawValue: error.code) else { return nil }
        self.code = code
    }

    /// The kinds.
    public enum Code: Int, Hashable, Sendable, CaseIterable {
        /// All is well.
        case OK = 0
        /// The caller gave up.
        case cancelled = 1
        /// The cause is not known.
        case unknown = 2
        /// What was asked can never succeed, whatever the state of the database.
        case invalidArgument = 3
        /// The time allowed ran out; the operation may still have happened.
        case deadlineExceeded = 4
        /// What was named does not exist.
        case notFound = 5
        /// What was to be created exists.
        case alreadyExists = 6
        /// The caller is known but may not do this.
        case permissionDenied = 7
        /// A limit or quota is used up.
        case resourceExhausted = 8
        /// The database is not in the state that the operation needs.
        case failedPrecondition = 9
        /// Another writer got in between.
        case aborted = 10
        /// A position lies outside what is kept.
        case outOfRange = 11
        /// There is no such operation here.
        case unimplemented = 12
        /// A fault in Hearth itself.
        case `internal` = 13
        /// The server can't be reached, or can't answer now.
        case unavailable = 14
        /// Stored data is lost or damaged.
        case dataLoss = 15
        /// The caller has not said, or not proven, who it is.
        case unauthenticated = 16

        /// Whether an error is of this kind.
        public static func ~= (code: Code, error: any Error) -> Bool {
            FirestoreErrorCode(error)?.code == code
        }
    }
}

extension FirestoreErrorCode {
    /// ``Code/OK``.
    public static var OK: Code { .OK }
    /// ``Code/cancelled``.
    public static var cancelled: Code { .cancelled }
    /// ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// ``Code/invalidArgument``.
    public static var invalidArgument: Code { .invalidArgument }
    /// ``Code/deadlineExceeded``.
    public static var deadlineExceeded: Code { .deadlineExceeded }
    /// ``Code/notFound``.
    public static var notFound: Code { .notFound }
    /// ``Code/alreadyExists``.
    public static var alreadyExists: Code { .alreadyExists }
    /// ``Code/permissionDenied``.
    public static var permissionDenied: Code { .permissionDenied }
    /// ``Code/resourceExhausted``.
    public static var resourceExhausted: Code { .resourceExhausted }
    /// ``Code/failedPrecondition``.
    public static var failedPrecondition: Code { .failedPrecondition }
    /// ``Code/aborted``.
    public static var aborted: Code { .aborted }
    /// ``Code/outOfRange``.
    public static var outOfRange: Code { .outOfRange }
    /// ``Code/unimplemented``.
    public static var unimplemented: Code { .unimplemented }
    /// ``Code/internal``.
    public static var `internal`: Code { .internal }
    /// ``Code/unavailable``.
    public static var unavailable: Code { .unavailable }
    /// ``Code/dataLoss``.
    public static var dataLoss: Code { .dataLoss }
    /// ``Code/unauthenticated``.
    public static var unauthenticated: Code { .unauthenticated }
}
