package import DocumentModel
import DocumentStore
import Logging

// Closing and deleting.
extension Databases {
    /// Deletes a database: ends its streams and transactions, and moves its folder out of its place. Calls that are under way in it
    /// fail. Its room on the disk is free some time after this returns.
    ///
    /// - Throws: ``StatusCode/notFound`` when there is none; ``StatusCode/failedPrecondition`` for the default one.
    package func delete(_ id: DatabaseID) async throws(StatusError) {
        guard id != defaultID else {
            throw StatusError(
                .failedPrecondition,
                "The default database can't be deleted, only its documents. For an empty one, serve another data folder."
            )
        }
        while true {
            guard !isClosed else { throw Self.stopping }
            if let task = making[id] {
                _ = await task.value
                continue
            }
            switch slots[id] {
            case .opening(let task): _ = await task.value
            case .closing(let task): _ = await task.value
            case .open(let database): return try await startDeleting(id, database).value.get()
            case nil: return try await startDeleting(id, nil).value.get()
            }
        }
    }

    /// Begins to delete a database that nobody may use after this.
    private func startDeleting(_ id: DatabaseID, _ database: Database?) -> Task<Result<Void, StatusError>, Never> {
        let task = Task { await Result { () async throws(StatusError) in try await self.remove(id, database) } }
        slots[id] = .closing(
            Task {
                // Whoever waits for it to be over has not asked for it.
                _ = await task.value
                return nil
            }
        )
        return task
    }

    private func remove(_ id: DatabaseID, _ database: Database?) async throws(StatusError) {
        defer {
            // Unless it was ended, those who use it go on.
            if let database, case .ended = database.content { slots[id] = nil } else { slots[id] = database.map { .open($0) } }
        }
        guard try await folders.contains(id) else {
            throw StatusError(.notFound, "There is no database \(Excerpt(id.description)) here. databases.list names all.")
        }
        // What can't be brought to disk is not wanted any more.
        if let database { _ = await end(database, .deleted) }
        try await folders.remove(id)
        startRemovingLeftovers()
        logger.notice("A database was deleted", metadata: ["database.id": "\(id)"])
    }

    /// Begins to remove what deleted databases have left on the disk.
    func startRemovingLeftovers() {
        let earlier = removal
        removal = Task {
            await earlier?.value
            do throws(StatusError) {
                try await folders.removeLeftovers()
            } catch {
                logger.warning("What is left of deleted databases can't be removed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Closes all databases; to be called when nobody calls any more.
    ///
    /// - Returns: Why one could not be closed completely; nil when all is well.
    package func close() async -> StatusError? {
        isClosed = true
        folders.stopRemoving()
        await removal?.value
        for task in making.values { _ = await task.value }
        var failure: StatusError?
        while !slots.isEmpty {
            for case (let id, .open(let database)) in slots { startClosing(id, database) }
            for slot in slots.values {
                switch slot {
                case .opening(let task): _ = await task.value
                case .closing(let task): failure = await task.value ?? failure
                case .open: break
                }
            }
        }
        return failure
    }

    /// Begins to close a database that nobody may use after this.
    func startClosing(_ id: DatabaseID, _ database: Database) {
        slots[id] = .closing(
            Task {
                let failure = await end(database, .closed)
                slots[id] = nil
                return failure
            }
        )
    }

    /// Ends a database and closes its store.
    private func end(_ database: Database, _ ending: Database.Ending) async -> StatusError? {
        let store = database.store
        database.end(ending)
        guard let store else { return nil }
        let failure = await store.close()
        storeCount -= 1
        return failure
    }

    static let stopping = StatusError(.unavailable, "Hearth is stopping.")
}
