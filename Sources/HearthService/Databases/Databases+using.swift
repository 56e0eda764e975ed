import DocumentModel
import DocumentStore
import Logging

// Using a database.
extension Databases {
    /// Begins to use a database. One that does not exist is empty, and made by its first write.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` when too many are used at the same time; why it can't be opened.
    func use(_ id: DatabaseID) async throws(StatusError) -> DatabaseUse {
        while true {
            switch slots[id] {
            // Nothing closes it before it is known to be used: that is decided here too.
            case .open(let database): return DatabaseUse(database, of: self)
            case .opening(let task): _ = try await task.value.get()
            case .closing(let task): _ = await task.value
            case nil:
                try makeRoomForName()
                slots[id] = .opening(Task { await Result { () async throws(StatusError) in try await self.opened(id) } })
            }
        }
    }

    private func opened(_ id: DatabaseID) async throws(StatusError) -> Database {
        do throws(StatusError) {
            let identity = DatabaseIdentity(id)
            let content: Database.Content =
                try await folders.contains(id) ? .store(openStore(identity)) : .nothing(identity)
            let database = Database(id, content, transactions: Transactions(limits: .ofOneOfMany))
            slots[id] = .open(database)
            return database
        } catch {
            slots[id] = nil
            throw error
        }
    }

    /// Makes a database that does not exist.
    func make(_ database: Database) async throws(StatusError) -> FileStore {
        if case .store(let store) = database.content { return store }
        let id = database.id
        if let task = making[id] { return try await task.value.get() }
        guard case .open(let known) = slots[id], known === database, case .nothing(let identity) = database.content else {
            throw StatusError(.unavailable, "The database \(Excerpt(id.description)) is being closed. Call again.")
        }
        let task = Task { await Result { () async throws(StatusError) in try await self.made(database, identity) } }
        making[id] = task
        return try await task.value.get()
    }

    private func made(_ database: Database, _ identity: DatabaseIdentity) async throws(StatusError) -> FileStore {
        defer { making[database.id] = nil }
        let store = try await openStore(identity)
        database.adopt(store)
        logger.notice("A database was made", metadata: ["database.id": "\(database.id)"])
        return store
    }

    private func openStore(_ identity: DatabaseIdentity) async throws(StatusError) -> FileStore {
        try await reserveStore()
        do throws(StatusError) {
            return try await folders.open(identity, configuration, logger: logger.naming(identity.id))
        } catch {
            storeCount -= 1
            throw refusal(error, of: identity)
        }
    }

    /// What is told of a database that can't be opened. The error itself may name folders of the machine.
    private func refusal(_ error: StatusError, of identity: DatabaseIdentity) -> StatusError {
        guard error.code != .resourceExhausted, let id = identity.id else { return error }
        logger.error(
            "A database can't be opened",
            metadata: ["database.id": "\(id)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
        )
        return StatusError(
            error.code,
            "The database \(Excerpt(id.description)) can't be opened. The log of the server says why; hearth check --database "
                + "looks at all of it where the server is stopped.",
            cause: error
        )
    }
}

extension Logger {
    /// The same log, with the name of the database in all that is told of it.
    fileprivate func naming(_ id: DatabaseID?) -> Logger {
        var logger = self
        logger[metadataKey: "database.id"] = id.map { .string($0.description) }
        return logger
    }
}
