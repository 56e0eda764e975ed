internal import DocumentModel
public import Foundation
internal import HearthTransport

// Sendable: all properties, including those of NSError, are immutable.
/// A Firestore error: an `NSError` with the domain ``FirestoreErrorDomain`` and a ``FirestoreErrorCode`` as `code`.
///
/// `catch let error as NSError` matches it on all platforms. If a provider of ID tokens has failed, its error is in the user
/// info, as `NSUnderlyingErrorKey`.
public final class FirestoreError: NSError, @unchecked Sendable {
    let status: StatusError

    init(_ status: StatusError) {
        self.status = status
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: status.message]
        if let failure = status.cause as? TokenProviderFailure { userInfo[NSUnderlyingErrorKey] = failure.underlying }
        super.init(domain: FirestoreErrorDomain, code: status.code.rawValue, userInfo: userInfo)
    }

    /// Not supported: returns `nil`.
    public required init?(coder: NSCoder) {
        nil
    }

    /// The path of the document or collection that caused the error, if known.
    public var path: String? { status.path }

    /// The field that caused the error, such as `tags[2].color`, if known.
    public var field: String? { status.field }

    /// The code, message and location on one line.
    public override var description: String { status.description }
}

/// Calls `body` and converts its error to a ``FirestoreError``.
func firestoreErrors<Result>(_ body: () throws(StatusError) -> Result) throws(FirestoreError) -> Result {
    do {
        return try body()
    } catch {
        throw FirestoreError(error)
    }
}
