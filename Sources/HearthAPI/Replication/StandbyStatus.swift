package import DocumentModel
import DocumentStore
import Replication
import Synchronization

/// The state of a standby: what it follows, and how far it is behind.
package final class StandbyStatus: Sendable {
    /// The address of the primary, as it was configured.
    package let primary: String
    private let state = Mutex(State())

    private struct State {
        var isConnected = false
        var failure: StatusError?
        /// The errors of additional databases that cannot be followed.
        var databaseFailures: [DatabaseID: StatusError] = [:]
        /// The number of complete heartbeats and snapshots.
        var progressCount = 0
        /// The time at which the primary was last known to have nothing that is not here.
        var confirmed: ContinuousClock.Instant?
        var lastHeartbeat: ContinuousClock.Instant?
        /// The time of the last message.
        var lastContact: Timestamp?
        /// The last commits of the databases on the primary, and here.
        var primaryPositions: [DatabaseID?: SequenceNumber] = [:]
        var appliedPositions: [DatabaseID?: SequenceNumber] = [:]
        /// The additional databases that have been followed since the start.
        var followed: Set<DatabaseID> = []
        var receivedBytes = 0
        /// The time since which a message is awaited; `nil` while one is processed.
        var waitingSince: ContinuousClock.Instant?
        var snapshotCount = 0
        /// The numbers of snapshots of the databases since all commits of the primary were here.
        var snapshotsInRow: [DatabaseID?: Int] = [:]
        var isPromoted = false
    }

    /// Creates the state before the first contact.
    package init(primary: String) {
        self.primary = primary
    }

    /// True while messages of the primary arrive.
    package var isConnected: Bool { state.withLock(\.isConnected) }

    /// The reason why nothing is applied, or nothing of a database; `nil` if there is none.
    package var failure: StatusError? {
        state.withLock { state in
            if let failure = state.failure { return failure }
            let first = state.databaseFailures.min { $0.key.description < $1.key.description }
            return first.map { id, error in StatusError(error.code, "The database \(id) cannot be followed: \(error.message)") }
        }
    }

    /// The number of complete heartbeats and snapshots so far.
    var progressCount: Int { state.withLock(\.progressCount) }

    /// The time at which the primary was last known to have nothing that is not here; `nil` if it is not known, before the first
    /// heartbeat.
    package var confirmed: ContinuousClock.Instant? { state.withLock(\.confirmed) }

    /// The time for which the databases may lack commits of the primary; `nil` if it is not known, before the first heartbeat.
    package var age: Duration? { confirmed.map { max(.zero, .now - $0) } }

    /// ``age`` in seconds, rounded to milliseconds.
    package var ageSeconds: Double? { age.map { ($0 / .seconds(1) * 1_000).rounded() / 1_000 } }

    package var lastContact: Timestamp? { state.withLock(\.lastContact) }
    package var receivedBytes: Int { state.withLock(\.receivedBytes) }
    package var snapshotCount: Int { state.withLock(\.snapshotCount) }

    /// The number of commits that the primary was known to have at the last heartbeat, and that have not been applied.
    package var lag: Int {
        state.withLock { state in
            state.primaryPositions.reduce(0) { sum, position in
                guard let applied = state.appliedPositions[position.key], applied < position.value else { return sum }
                return sum + Int(clamping: position.value.rawValue - applied.rawValue)
            }
        }
    }

    /// The time for which a message has been awaited.
    var silence: Duration { state.withLock { state in state.waitingSince.map { .now - $0 } ?? .zero } }

    /// True once the standby was promoted, until the server has restarted.
    package var isPromoted: Bool { state.withLock(\.isPromoted) }

    func beginWaiting() {
        state.withLock { $0.waitingSince = .now }
    }

    func didApply(_ sequence: SequenceNumber, of database: DatabaseID?) {
        state.withLock { $0.appliedPositions[database] = sequence }
    }

    func didReceive(_ byteCount: Int) {
        state.withLock { state in
            state.waitingSince = nil
            state.isConnected = true
            state.receivedBytes += byteCount
            state.lastContact = .current()
        }
    }

    /// Records the end of a connection. A primary that cannot be reached is no failure.
    func didDisconnect(_ error: StatusError) {
        state.withLock { state in
            state.isConnected = false
            state.waitingSince = nil
            if error.code != .unavailable { state.failure = error }
        }
    }

    /// Records that an additional database cannot be followed.
    func didFail(_ database: DatabaseID, _ error: StatusError) {
        state.withLock { $0.databaseFailures[database] = error }
    }

    /// Records a heartbeat.
    ///
    /// - Parameters:
    ///   - time: The earliest time at which the primary can have made it, by the clock of this server.
    ///   - isComplete: True if all databases are followed.
    func record(_ heartbeat: ReplicationMessage.Heartbeat, madeAt time: ContinuousClock.Instant, isComplete: Bool) {
        state.withLock { state in
            for position in heartbeat.positions { state.primaryPositions[position.database] = position.sequence }
            state.lastHeartbeat = .now
            guard heartbeat.isComplete else { return }
            state.progressCount += 1
            state.failure = nil
            guard isComplete else { return }
            // Not in the future, if the clock of this machine has stood still.
            state.confirmed = max(min(time, .now), state.confirmed ?? min(time, .now))
            state.databaseFailures = [:]
        }
    }

    /// True if the primary has sent a heartbeat within the last seconds, so that it is probably in operation.
    package var isPrimaryAlive: Bool {
        state.withLock { state in state.lastHeartbeat.map { .now - $0 < Self.aliveTime } ?? false }
    }

    /// Records that an additional database has the history of the primary, and no commits of its own.
    func didFollow(_ database: DatabaseID) {
        state.withLock { _ = $0.followed.insert(database) }
    }

    /// Returns whether an additional database has been followed since the start.
    func hasFollowed(_ database: DatabaseID) -> Bool {
        state.withLock { $0.followed.contains(database) }
    }

    /// Records that the primary has stopped after its last commit.
    func primaryDidStop() {
        state.withLock { $0.lastHeartbeat = nil }
    }

    private static let aliveTime = Duration.seconds(5)

    func remove(_ database: DatabaseID) {
        state.withLock { state in
            (state.primaryPositions[database], state.appliedPositions[database]) = (nil, nil)
            state.databaseFailures[database] = nil
        }
    }

    func didTakeSnapshot(of database: DatabaseID?) {
        state.withLock { state in
            state.snapshotCount += 1
            state.progressCount += 1
            state.snapshotsInRow[database, default: 0] += 1
        }
    }

    /// Continues to count the snapshots of the default database after a restart.
    func restoreSnapshotsInRow(_ count: Int) {
        state.withLock { $0.snapshotsInRow[nil] = count == 0 ? nil : count }
    }

    /// Returns the number of snapshots of a database since all commits of the primary were here.
    func snapshotsInRow(of database: DatabaseID?) -> Int {
        state.withLock { $0.snapshotsInRow[database] ?? 0 }
    }

    /// Ends the rows of snapshots once a heartbeat has shown that all commits of the databases that are followed are here.
    ///
    /// - Parameter suspended: The additional databases that are not followed.
    func endSnapshotRows(except suspended: Set<DatabaseID>) {
        state.withLock { state in
            state.snapshotsInRow = state.snapshotsInRow.filter { row in row.key.map(suspended.contains) ?? false }
        }
    }

    func didPromote() {
        state.withLock { $0.isPromoted = true }
    }
}

extension StandbyStatus {
    /// The error for a read that asks for a state no older than a bound; `nil` if the state is recent enough.
    package func stalenessError(maximumAge: Duration) -> StatusError? {
        let age = age
        if let age, age <= maximumAge { return nil }
        let known = age.map { "\($0.roundedSeconds) s" } ?? "an unknown time"
        var error = StatusError(
            .unavailable,
            "This standby has been without news of its primary for \(known), longer than the request permits. Read from the primary, "
                + "\(primary), or permit more."
        )
        error.retryAfter = .seconds(1)
        return error
    }
}

extension Duration {
    /// The duration in seconds, rounded up to milliseconds.
    package var roundedSeconds: String {
        let milliseconds = (components.seconds * 1_000) + (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let fraction = String(milliseconds % 1_000 + 1_000).dropFirst()
        return "\(milliseconds / 1_000).\(fraction)"
    }
}
