import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import ServiceLifecycle

/// The backups that a server makes by itself, whenever the last one is older than an interval: also one that was made by hand, or
/// before a restart.
struct BackupSchedule: Service {
    private let databases: DatabaseRegistry
    /// The interval in microseconds.
    private let interval: Int64
    /// The number of backups to keep; `nil` for all.
    private let keptCount: Int?

    /// The time until a failed backup is made again, and the longest time between two looks at the clock.
    private static let retryInterval = Duration.seconds(15 * 60)

    /// Creates the schedule; `nil` if none is configured.
    init?(_ options: ServeBackupOptions, _ databases: DatabaseRegistry) {
        guard let hours = options.backupHours else { return nil }
        self.databases = databases
        interval = Int64(hours) * 3_600_000_000
        keptCount = options.keepBackups
    }

    /// Makes backups until the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let wait = await timeToNext()
                if wait <= .zero { await makeBackup() }
                try? await Task.sleep(for: min(max(wait, .seconds(1)), Self.retryInterval))
            }
        }
    }

    private func timeToNext() async -> Duration {
        do throws(StatusError) {
            guard let last = try await databases.backups.list().last else { return .zero }
            let now = Timestamp.current()
            // One of the future was made while the clock was wrong.
            guard last.startTime <= now else { return .zero }
            return .microseconds(last.startTime.microseconds + interval - now.microseconds)
        } catch {
            return Self.retryInterval
        }
    }

    /// Makes a backup. Its failure is logged where it is made.
    ///
    /// On a disk that holds the backups to keep and not one more, the oldest one gives way to the new one, which is tried once more. The
    /// others stay, whatever fills the disk. No backup gives way to an error that fewer of them would not mend.
    private func makeBackup() async {
        do throws(StatusError) {
            do throws(StatusError) {
                _ = try await databases.makeBackup(includingKeys: true)
            } catch {
                guard error.isLackOfBackupSpace, let keptCount, keptCount > 1,
                    try await databases.backups.list().count >= keptCount
                else { throw error }
                try await databases.pruneBackups(keeping: keptCount - 1)
                _ = try await databases.makeBackup(includingKeys: true)
            }
            if let keptCount { try await databases.pruneBackups(keeping: keptCount) }
        } catch {
            try? await Task.sleep(for: Self.retryInterval)
        }
    }
}
