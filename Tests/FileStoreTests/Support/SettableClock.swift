import DocumentModel
import Synchronization

/// A clock under a test's control.
final class SettableClock: Sendable {
    private let microseconds: Mutex<Int64>

    init(_ start: Timestamp? = nil) {
        microseconds = Mutex(start?.microseconds ?? 1_700_000_000_000_000)
    }

    var now: Timestamp {
        (try? Timestamp(microseconds: microseconds.withLock { $0 })) ?? .maximum
    }

    func advance(microseconds count: Int64) {
        microseconds.withLock { $0 += count }
    }
}
