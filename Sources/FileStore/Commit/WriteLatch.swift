internal import DocumentModel
internal import Synchronization

/// A one-way latch that blocks writes until the store is reopened, tripped by an I/O error that leaves the state on disk unknown,
/// such as a failed sync.
final class WriteLatch: Sendable {
    private let cause = Mutex<StatusError?>(nil)

    /// The error for every subsequent write; `nil` until the latch is tripped.
    var error: StatusError? {
        cause.withLock { cause in
            cause.map { cause in
                StatusError(
                    .unavailable,
                    "Hearth no longer accepts writes and must be restarted: \(cause.message)",
                    cause: cause
                )
            }
        }
    }

    /// Blocks writes; the first cause is kept.
    func trip(_ error: StatusError) {
        cause.withLock { if $0 == nil { $0 = error } }
    }
}
