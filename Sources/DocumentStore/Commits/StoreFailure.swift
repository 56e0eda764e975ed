internal import DocumentModel
internal import Synchronization

/// Why the store accepts no more writes until it is opened again: once a sync has failed, nobody knows what is on disk.
final class StoreFailure: Sendable {
    private let reason = Mutex<StatusError?>(nil)

    /// The error for every further write, or nil while all is well.
    var error: StatusError? {
        reason.withLock { reason in
            reason.map { reason in
                StatusError(
                    .unavailable,
                    "Hearth accepts no more writes until it is started again: \(reason.message)",
                    cause: reason
                )
            }
        }
    }

    /// Stops the store; the first reason stays.
    func stop(_ cause: StatusError) {
        reason.withLock { if $0 == nil { $0 = cause } }
    }
}
