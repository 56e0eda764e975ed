internal import Synchronization

/// The time since which files may have been edited whose edits are not commits yet.
///
/// The manifest records it each time it is written (``DataFolderManifest/editsSince``), because a start after a crash otherwise looks for
/// edits since then only.
final class UncommittedEdits: Sendable {
    private let current: Mutex<@Sendable () -> Int64?>

    /// The time in microseconds by which a change may be older than the moment in which it is noticed.
    static let margin: Int64 = 10_000_000

    /// - Parameter since: The time in microseconds since 1970, before anything is known of later edits.
    init(since: Int64) {
        current = Mutex { since }
    }

    /// The time in microseconds since 1970; `nil` if all edits are commits.
    var since: Int64? { current.withLock(\.self)() }

    /// Lets a function return the time from now on.
    func follow(_ since: @escaping @Sendable () -> Int64?) {
        current.withLock { $0 = since }
    }
}
