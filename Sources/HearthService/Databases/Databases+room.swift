import DocumentModel
import DocumentStore

// Making room.
extension Databases {
    /// How many names are known at the same time, those of databases included that do not exist.
    private static let maximumNames = 2_000

    /// Forgets databases that do not exist and nobody uses.
    func makeRoomForName() throws(StatusError) {
        guard !isClosed else { throw Self.stopping }
        guard slots.count >= Self.maximumNames else { return }
        slots = slots.filter { _, slot in
            guard case .open(let database) = slot, case .nothing = database.content else { return true }
            return database.idleSince == nil || making[database.id] != nil
        }
        guard slots.count < Self.maximumNames else { throw tooMany }
    }

    /// Counts one more store, and closes the database that was not used for longest where as many are open as may be.
    func reserveStore() async throws(StatusError) {
        while true {
            guard !isClosed else { throw Self.stopping }
            if storeCount < limit { break }
            if let task = closingTask {
                _ = await task.value
                continue
            }
            var longest: (database: Database, since: ContinuousClock.Instant)?
            for case .open(let database) in slots.values where database.store != nil {
                guard let since = database.idleSince, since < longest?.since ?? .now else { continue }
                longest = (database, since)
            }
            guard let longest else { throw tooMany }
            startClosing(longest.database.id, longest.database)
        }
        storeCount += 1
    }

    private var closingTask: Task<StatusError?, Never>? {
        for case .closing(let task) in slots.values { return task }
        return nil
    }

    private var tooMany: StatusError {
        var error = StatusError(
            .resourceExhausted,
            "\(limit) databases are in use at the same time, as many as this server has open. Try again when others are done, or "
                + "raise --open-databases."
        )
        error.retryAfter = .seconds(1)
        return error
    }
}
