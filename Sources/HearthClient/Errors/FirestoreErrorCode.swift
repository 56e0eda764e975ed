public import Foundation

/// The domain of Firestore errors.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// A Firestore error code.
///
/// ```swift
/// do {
///     try await book.updateData(["numberOfPages": 42])
/// } catch FirestoreErrorCode.notFound {
///     // The book doesn't exist.
/// }
/// ```
public struct FirestoreErrorCode: Error, Hashable, Sendable {
    /// The code.
    public let code: Code

    /// Creates an error with a code.
    public init(_ code: Code) {
        self.code = code
    }

    /// Returns the code of an error; `nil` for an error from another domain.
    public init?(_ error: any Error) {
        // Not by a cast alone, which on Apple's systems asks this initializer.
        if type(of: error) is FirestoreErrorCode.Type, let error = error as? FirestoreErrorCode {
            self = error
            return
        }
        // Casts via Any: on Linux, the compiler assumes that a cast from Error always succeeds, which is not the case.
        let error = error as Any as? NSError
        guard let error, error.domain == FirestoreErrorDomain, let code = Code(rawValue: error.code) else { return nil }
        self.code = code
    }

    /// The Firestore error codes.
    public enum Code: Int, Hashable, Sendable, CaseIterable {
        /// The operation succeeded.
        case OK = 0
        /// The operation was cancelled by the caller.
        case cancelled = 1
        /// An unknown error.
        case unknown = 2
        /// An argument is invalid, regardless of the state of the database.
        case invalidArgument = 3
        /// The deadline expired. The operation may have taken effect.
        case deadlineExceeded = 4
        /// The document or other resource does not exist.
        case notFound = 5
        /// The document to create already exists.
        case alreadyExists = 6
        /// The caller is authenticated but lacks permission.
        case permissionDenied = 7
        /// A limit or quota is exhausted.
        case resourceExhausted = 8
        /// The database is not in the state required for the operation.
        case failedPrecondition = 9
        /// The operation conflicted with a concurrent write.
        case aborted = 10
        /// A value is outside the valid range.
        case outOfRange = 11
        /// The operation is not implemented or supported.
        case unimplemented = 12
        /// An internal error.
        case `internal` = 13
        /// The server cannot be reached or is temporarily unavailable.
        case unavailable = 14
        /// Stored data is lost or damaged.
        case dataLoss = 15
        /// The credentials are missing or invalid.
        case unauthenticated = 16

        /// Returns whether an error has this code.
        public static func ~= (code: Code, error: any Error) -> Bool {
            FirestoreErrorCode(error)?.code == code
        }
    }
}

extension FirestoreErrorCode: CustomNSError {
    /// ``FirestoreErrorDomain``.
    public static var errorDomain: String { FirestoreErrorDomain }

    /// The code of the error as an `NSError`.
    public var errorCode: Int { code.rawValue }

    /// An empty dictionary.
    public var errorUserInfo: [String: Any] { [:] }
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
