public import DocumentModel
internal import SyncEngine

/// The writes of a call that the server has rejected.
public struct RejectedWrites: Sendable {
    /// A write to a document.
    public struct Write: Sendable {
        /// The document.
        public let document: DocumentReference
        fileprivate let write: DocumentModel.Write

        /// True if the write deletes the document.
        public var isDeletion: Bool { write.operation == .delete }

        /// Returns the fields that the write sets, without those of field transforms such as an increment.
        public func data() -> [String: Any] {
            switch write.operation {
            case .replace(let fields), .patch(let fields, _): fields.dictionary(in: document.firestore)
            case .delete, .verify: [:]
            }
        }
    }

    /// The writes, in order.
    public let writes: [Write]
    /// The time of the call, by the server's clock as far as it is known.
    public let time: Timestamp
    /// The error. With ``FirestoreErrorCode/unknown`` it is not known whether the writes were made.
    public let error: FirestoreError
    private let batch: RejectedBatch
    private let user: UserID
    private let firestore: Firestore
    private let session: any SyncSession

    init(_ batch: RejectedBatch, of user: UserID, in firestore: Firestore, _ session: any SyncSession) {
        writes = batch.writes.map { Write(document: DocumentReference($0.path, in: firestore), write: $0) }
        time = batch.localTime
        error = FirestoreError(StatusError(batch.code, batch.message))
        self.batch = batch
        self.user = user
        self.firestore = firestore
        self.session = session
    }

    /// Queues the writes again, after those that are queued now, and forgets them here.
    ///
    /// Writes that have been resent or acknowledged are not queued again, also if they were received twice.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` if another user has signed in, ``FirestoreErrorCode/resourceExhausted`` if the
    ///   queue or the disk is full. They are kept then.
    public func resend() async throws {
        try await firestore.wait { completion in session.resendRejectedBatch(batch.number, of: user, queued: completion) }
    }

    /// Forgets the writes.
    public func acknowledge() {
        session.removeRejectedBatch(batch.number, of: user)
    }
}
