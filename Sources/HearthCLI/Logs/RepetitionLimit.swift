import Logging
import Synchronization

/// The limit on entries with the same message, so that a fault or a client that causes one with each request doesn't fill the disk.
///
/// In each period, the first ``maximumCount`` entries with a message pass. The others are counted.
final class RepetitionLimit: Sendable {
    /// The number of entries with each message in the current period. Messages are constants of the source, so they are few.
    private let counts = Mutex<[String: Int]>([:])

    /// The number of entries with the same message that pass in a period.
    static let maximumCount = 20

    /// Counts an entry, and returns whether it passes.
    func passes(_ message: String, level: Logger.Level) -> Bool {
        // Below are single requests, which are wanted all or not at all; above is what ends the server.
        guard (.notice...Logger.Level.error).contains(level) else { return true }
        return counts.withLock { counts in
            counts[message, default: 0] += 1
            return counts[message, default: 0] <= Self.maximumCount
        }
    }

    /// Begins a new period.
    ///
    /// - Returns: The messages of which entries didn't pass in the last one, and the numbers of those.
    func beginPeriod() -> [(message: String, count: Int)] {
        let counts = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        return counts.filter { $0.value > Self.maximumCount }.map { ($0.key, $0.value - Self.maximumCount) }
            .sorted { $0.message.utf8.lexicographicallyPrecedes($1.message.utf8) }
    }
}
