internal import DocumentModel
public import Foundation

// Its own property is constant, and NSError's are.
/// An error of Firestore: an `NSError` of ``FirestoreErrorDomain`` whose `code` is a ``FirestoreErrorCode``, so that
/// `catch let error as NSError` finds it on every system.
public final class FirestoreError: NSError, @unchecked Sendable {
    let status: StatusError

    init(_ status: StatusError) {
        self.status = status
        super.init(
            domain: FirestoreErrorDomain,
            code: status.code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: status.message]
        )
    }

    /// Errors are not archived.
    public required init?(coder: NSCoder) {
        nil
    }

    /// The document or collection concerned, relative to the database; nil where it is not known.
    public var path: String? { status.path }

    /// The field concerned, such as `tags[2].color`; nil where it is not known.
    public var field: String? { status.field }

    /// Kind, message and places in one line.
    public override var description: String { status.description }
}
