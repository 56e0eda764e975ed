internal import DocumentModel

extension Firestore {
    /// The state of the queue of writes.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    public var writeQueueStatus: WriteQueueStatus {
        get async throws {
            do throws(StatusError) {
                return try await requireSession().queueStatus()
            } catch {
                throw FirestoreError(error)
            }
        }
    }

    /// The writes that the server has rejected while nobody waited for its answer: their call had no completion, or an earlier run of the
    /// program made it.
    ///
    /// With a persistent cache, an element is repeated in later runs until ``RejectedWrites/acknowledge()`` is called.
    public var rejectedWrites: AsyncThrowingStream<RejectedWrites, any Error> {
        AsyncThrowingStream { continuation in
            do throws(StatusError) {
                let session = try requireSession()
                let handler = RejectionHandler(
                    receive: { [weak self] batch, user, session in
                        guard let self else { return }
                        continuation.yield(RejectedWrites(batch, of: user, in: self, session))
                    },
                    end: { continuation.finish() }
                )
                let id = session.addRejectionHandler(handler)
                continuation.onTermination = { _ in session.removeRejectionHandler(id) }
            } catch {
                continuation.finish(throwing: FirestoreError(error))
            }
        }
    }
}
