/// The epochs of the server's history that the client has seen.
///
/// A server that was restored from a backup begins a new epoch. What it told before may be lost, and versions of different epochs do not
/// compare. An epoch never comes back, so what arrives late of an earlier one is outdated.
struct EpochHistory {
    /// The current epoch; `nil` before the server has told any.
    private(set) var current: String?
    private var past: Set<String> = []

    /// Records the epoch of an event or an answer.
    mutating func record(_ epoch: String?) {
        guard let epoch, epoch != current, !past.contains(epoch) else { return }
        if let current { past.insert(current) }
        current = epoch
    }
}
