internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization

/// Watches the space and the inodes of the disk, as commits and health checks find them. Logs once when they run low or out, and once
/// when that is over.
///
/// Its methods make system calls, so they must not be called on the cooperative thread pool.
final class DiskMonitor: Sendable {
    /// The capacity of the disk; `nil` for a resource that the file system does not report.
    typealias Capacity = (space: StorageReport.DiskCapacity?, inodes: StorageReport.DiskCapacity?)

    private struct State {
        /// The resources that the log says are running low.
        var low: Set<StorageReport.DiskResource> = []
        /// The capacity when the disk was found to be full; `nil` while it isn't.
        var whenFull: Capacity?
        var lastFullLog: ContinuousClock.Instant?
        /// True if the log says that the disk is full.
        var isFullInLog = false
    }

    /// The error for writes while the disk is full.
    static let fullError = StatusError(
        .resourceExhausted,
        "The disk is full. Free some space, or move the data folder to a larger disk; writes then resume without a restart."
    )

    /// The free space below which a disk is full, limited to a fraction of a small disk.
    private static let minimumFreeBytes = 1 << 20
    private static let minimumFreeFraction = 32
    /// The minimum interval between log entries, for a disk on which small commits succeed and large ones fail.
    private static let logInterval = Duration.seconds(60)

    private let data: DataFolder
    private let logger: Logger
    private let state = Mutex(State())

    init(_ data: DataFolder, logger: Logger) {
        self.data = data
        self.logger = logger
    }

    /// True if the disk was full when it was last checked.
    var isFull: Bool { state.withLock { $0.whenFull != nil } }

    /// Reads the capacity of the disk, and logs a change.
    @discardableResult
    func check() -> Capacity {
        let capacity = capacity
        if let space = capacity.space { report(.space, space) }
        if let inodes = capacity.inodes { report(.inodes, inodes) }
        if Self.isFull(capacity) {
            setFull(capacity, because: nil)
        } else if let previous = state.withLock(\.whenFull), Self.isFreed(capacity, since: previous) {
            setNotFull(capacity)
        }
        return capacity
    }

    /// Records that a commit failed for lack of space or inodes. That of a large commit does not mean that the disk is full.
    func recordFailure(_ error: StatusError) {
        let capacity = capacity
        if Self.isFull(capacity) { setFull(capacity, because: error) }
    }

    /// Records that a commit succeeded on a disk that was full.
    func recordSuccess() {
        setNotFull(capacity)
    }

    private var capacity: Capacity {
        (
            (try? data.root.diskSpace()).map { StorageReport.DiskCapacity(total: $0.total, free: $0.free) },
            (try? data.root.inodes()).flatMap(\.self).map { StorageReport.DiskCapacity(total: $0.total, free: $0.free) }
        )
    }

    private static func isFull(_ capacity: Capacity) -> Bool {
        if capacity.inodes?.free == 0 { return true }
        return capacity.space.map { $0.free < minimumFree(of: $0) } ?? false
    }

    /// Returns whether there is more of what was missing when the disk was full.
    private static func isFreed(_ capacity: Capacity, since previous: Capacity) -> Bool {
        if previous.inodes?.free == 0 { return true }
        guard let space = capacity.space else { return true }
        return space.free >= (previous.space?.free ?? 0) + minimumFree(of: space)
    }

    private static func minimumFree(of space: StorageReport.DiskCapacity) -> Int {
        min(minimumFreeBytes, space.total / minimumFreeFraction)
    }
}

// MARK: - Log

extension DiskMonitor {
    private func report(_ resource: StorageReport.DiskResource, _ capacity: StorageReport.DiskCapacity) {
        let isLow = capacity.isLow(resource)
        let hasChanged = state.withLock { isLow ? $0.low.insert(resource).inserted : $0.low.remove(resource) != nil }
        guard hasChanged else { return }
        let metadata: Logger.Metadata =
            switch resource {
            case .space: ["disk.free_bytes": "\(capacity.free)", "disk.total_bytes": "\(capacity.total)"]
            case .inodes: ["disk.free_inodes": "\(capacity.free)", "disk.total_inodes": "\(capacity.total)"]
            }
        switch (resource, isLow) {
        case (.space, true): logger.warning("The disk is running out of space", metadata: metadata)
        case (.space, false): logger.info("The disk has enough space again", metadata: metadata)
        case (.inodes, true):
            logger.warning("The disk is running out of inodes, of which every document takes one", metadata: metadata)
        case (.inodes, false): logger.info("The disk has enough inodes again", metadata: metadata)
        }
    }

    /// - Parameter failure: The error of a failed commit; `nil` if only the capacity was checked.
    private func setFull(_ capacity: Capacity, because failure: StatusError?) {
        let isLogDue = state.withLock { state in
            state.whenFull = capacity
            let now = ContinuousClock.now
            guard !state.isFullInLog, state.lastFullLog.map({ now - $0 >= Self.logInterval }) ?? true else { return false }
            state.lastFullLog = now
            state.isFullInLog = true
            return true
        }
        guard isLogDue else { return }
        var metadata = Self.metadata(of: capacity)
        if let failure {
            metadata["error"] = "\(failure)"
            metadata["error.cause"] = "\(failure.cause.map { "\($0)" } ?? "")"
        }
        logger.error("Disk full, rejecting commits that don't fit", metadata: metadata)
    }

    private func setNotFull(_ capacity: Capacity) {
        let isLogDue = state.withLock { state in
            defer { state.isFullInLog = false }
            let wasFull = state.whenFull != nil
            state.whenFull = nil
            return wasFull && state.isFullInLog
        }
        guard isLogDue else { return }
        logger.notice("Disk space available again, accepting commits", metadata: Self.metadata(of: capacity))
    }

    private static func metadata(of capacity: Capacity) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["disk.free_bytes": "\(capacity.space.map { "\($0.free)" } ?? "unknown")"]
        if let inodes = capacity.inodes { metadata["disk.free_inodes"] = "\(inodes.free)" }
        return metadata
    }
}

extension StatusError {
    /// True if the disk is full or a quota is exhausted.
    var isLackOfSpace: Bool { (cause as? FileSystemError)?.isNoSpace == true }
}
