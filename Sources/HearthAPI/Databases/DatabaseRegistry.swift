import Concurrency
package import DocumentModel
package import DocumentStore
package import Logging
import UTF8Text

/// The additional databases of a server. A database is opened on first use, and created by its first write or by ``create(_:)``.
///
/// The number of open databases is limited. When another one is needed, the least recently used database is closed. An unused
/// database costs neither memory nor time, and the default database never waits for another one.
package actor DatabaseRegistry {
    /// The default database, which is not part of the registry.
    package nonisolated let defaultID: DatabaseID
    nonisolated let host: any StoreHost
    /// The maximum number of open stores.
    private let limit: Int
    private let rules: RulesRegistry
    /// The issuer of transactions' IDs.
    private let issuer: TransactionIDIssuer
    /// The address of the primary of a standby, on which writes create no databases.
    private let primary: String?
    let logger: Logger
    /// The metrics of backups; `nil` outside of servers.
    let backupMetrics: BackupMetrics?

    /// The state of a known database.
    private enum Slot {
        case opening(Task<Result<Database, StatusError>, Never>)
        case open(Database)
        /// The database is being closed or deleted.
        case closing(Task<StatusError?, Never>)
    }

    private var slots: [DatabaseID: Slot] = [:]
    /// The databases that are being created, by their first write or by ``create(_:)``.
    private var creations: [DatabaseID: Task<Result<any ClosableStore, StatusError>, Never>] = [:]
    /// The number of times that a database has been opened, created or deleted, and that number at the last opening of each.
    private(set) var openings: (count: UInt64, last: [DatabaseID: UInt64]) = (0, [:])
    /// The number of stores that are open, opening or closing.
    private var storeCount = 0
    private(set) var isClosed = false
    /// The backup in progress.
    var backupTask: BackupTask?
    /// The verification of a backup in progress.
    var verificationTask: VerificationTask?
    /// The additional databases that may have commits that are not archived: all of them after a start, then those that were opened.
    var unarchived: Set<DatabaseID>?
    /// The error of the last backup; `nil` if it did not fail.
    var backupFailure: (startTime: Timestamp, error: StatusError)?
    /// The last task that removes files of deleted databases.
    private(set) var purgeTask: Task<Void, Never>?

    /// The maximum number of known names, including those of databases that do not exist.
    private static let maximumNames = 2_000

    static let shuttingDown = StatusError(.unavailable, "The server is shutting down.")

    private init(
        defaultID: DatabaseID,
        of host: any StoreHost,
        limit: Int,
        rules: RulesRegistry,
        issuer: TransactionIDIssuer,
        primary: String?,
        logger: Logger,
        backupMetrics: BackupMetrics?
    ) {
        self.issuer = issuer
        self.defaultID = defaultID
        self.host = host
        self.limit = limit
        self.rules = rules
        self.primary = primary
        self.logger = logger
        self.backupMetrics = backupMetrics
    }

    /// Creates the registry of a host's databases.
    ///
    /// - Parameters:
    ///   - defaultID: The name of the default database.
    ///   - host: The host of the databases. Only the default database is open.
    ///   - limit: The maximum number of open databases, at least 1.
    ///   - rules: The security rules of the server.
    ///   - issuer: The issuer of transactions' IDs.
    ///   - primary: The address of the primary, for a standby.
    /// - Throws: ``StatusCode/failedPrecondition`` if an additional database has the name of the default one.
    package static func open(
        defaultID: DatabaseID = .standard,
        of host: any StoreHost,
        limit: Int = 16,
        rules: RulesRegistry = RulesRegistry(),
        issuer: TransactionIDIssuer = TransactionIDIssuer(),
        primary: String? = nil,
        logger: Logger,
        backupMetrics: BackupMetrics? = nil
    ) async throws(StatusError) -> DatabaseRegistry {
        guard try await !host.contains(defaultID) else {
            throw StatusError(
                .failedPrecondition,
                "The default database cannot be named \(Excerpt(defaultID.description)): the data folder contains another database with "
                    + "that name. Pass the --project that the data folder was served with before."
            )
        }
        let databases = DatabaseRegistry(
            defaultID: defaultID,
            of: host,
            limit: max(1, limit),
            rules: rules,
            issuer: issuer,
            primary: primary,
            logger: logger,
            backupMetrics: backupMetrics
        )
        // From the first rules on, all callers need a key or are end users, even if the database with the rules is never opened.
        // One that is damaged cannot be opened; its rules are found when it can be again.
        for id in try await host.databases() { try? await rules.checkRules(of: id) }
        if let backups = host.backups {
            backupMetrics?.record(try? await backups.list().last)
            backupMetrics?.recordVerification(at: try? await backups.verifications().lastSuccess?.time)
        }
        // A previous deletion may have been interrupted.
        await databases.startPurging()
        return databases
    }

    /// The state of the connections to an engine; `nil` for databases on a disk of this machine.
    package nonisolated var engineStatus: EngineStatus? { host.engineStatus }

    /// Returns all databases, the default one first.
    package func all() async throws(StatusError) -> [DatabaseID] {
        [defaultID] + (try await host.databases())
    }

    /// The open additional databases that exist, sorted by ID.
    var openDatabases: [Database] {
        let databases = slots.values.compactMap { slot -> Database? in
            if case .open(let database) = slot, database.store != nil { database } else { nil }
        }
        return databases.sorted { $0.id.description < $1.id.description }
    }

    /// Samples the commit rates of all open databases.
    func sampleCommitRates(at time: ContinuousClock.Instant) {
        for case .open(let database) in slots.values {
            database.commitRates.recordSample(database.position.lastSequence, at: time)
        }
    }
}

// Opening and creating.
extension DatabaseRegistry {
    /// Returns a lease of a database, and opens the database if needed.
    ///
    /// - Parameter exceedsLimit: True to open it though too many databases are in use: for work on one after the other.
    /// - Throws: ``StatusCode/resourceExhausted`` if too many databases are in use; the store's error if the database cannot be
    ///   opened.
    func lease(_ id: DatabaseID, exceedingLimit exceedsLimit: Bool = false) async throws(StatusError) -> DatabaseLease {
        while true {
            switch slots[id] {
            // The actor also decides when to close databases, so this one cannot be closed before the lease is counted.
            case .open(let database): return DatabaseLease(database, of: self)
            case .opening(let task): _ = try await task.value.get()
            case .closing(let task): _ = await task.value
            case nil:
                try evictUnusedNames()
                // Several callers may wait for it, none of whose time limits holds.
                let task = CallAdmission.$current.withValue(nil) {
                    Task { await Result { () async throws(StatusError) in try await self.openDatabase(id, exceedsLimit) } }
                }
                slots[id] = .opening(task)
            }
        }
    }

    private func openDatabase(_ id: DatabaseID, _ exceedsLimit: Bool) async throws(StatusError) -> Database {
        do throws(StatusError) {
            let identity = DatabaseIdentity(id)
            let state: Database.State = try await host.contains(id) ? .open(openStore(identity, exceedsLimit)) : .absent(identity)
            let database = Database(
                id,
                state,
                transactions: TransactionRegistry(limits: .additionalDatabase, issuer: issuer, database: id.description),
                rules: try await rules(of: id, closing: state)
            )
            slots[id] = .open(database)
            unarchived?.insert(id)
            if database.store != nil { countOpening(of: id) }
            return database
        } catch {
            slots[id] = nil
            throw error
        }
    }

    /// Returns the rules of a database that is being opened.
    ///
    /// - Parameter state: Its store is closed if the rules cannot be read.
    private func rules(of id: DatabaseID, closing state: Database.State) async throws(StatusError) -> DatabaseRules {
        do throws(StatusError) {
            return try await rules.rules(of: id, isDefault: false)
        } catch {
            if case .open(let store) = state {
                _ = await store.close()
                storeCount -= 1
            }
            throw error
        }
    }

    /// Creates a database. Of several calls and servers that create one at the same time, exactly one succeeds.
    ///
    /// - Throws: ``StatusCode/alreadyExists`` if it exists, or is being created; ``StatusCode/resourceExhausted`` if too many
    ///   databases are in use.
    package func create(_ id: DatabaseID) async throws(StatusError) {
        guard id != defaultID else { throw Self.exists(id) }
        let lease = try await self.lease(id)
        guard case .absent(let identity) = lease.database.state, creations[id] == nil else { throw Self.exists(id) }
        let store = try await create(lease.database)
        guard Self.isCreated(store, as: identity) else { throw Self.exists(id) }
    }

    /// Returns whether opening a database has created it. One that another server has created has another epoch.
    private static func isCreated(_ store: any DocumentStore, as identity: DatabaseIdentity) -> Bool {
        store.position.epoch == identity.epoch.description
    }

    private static func exists(_ id: DatabaseID) -> StatusError {
        StatusError(.alreadyExists, "The database \(Excerpt(id.description)) exists already. Choose another name.")
    }

    /// Creates a database unless it exists, and returns its store.
    func create(_ database: Database) async throws(StatusError) -> any ClosableStore {
        if case .open(let store) = database.state { return store }
        if let primary { throw .standby(of: primary) }
        let id = database.id
        if let task = creations[id] { return try await task.value.get() }
        guard case .open(let known) = slots[id], known === database, case .absent(let identity) = database.state else {
            throw StatusError(.unavailable, "The database \(Excerpt(id.description)) is being closed. Try again.")
        }
        let task = CallAdmission.$current.withValue(nil) {
            Task { await Result { () async throws(StatusError) in try await self.createStore(of: database, identity) } }
        }
        creations[id] = task
        return try await task.value.get()
    }

    private func createStore(of database: Database, _ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore {
        defer { creations[database.id] = nil }
        let store = try await openStore(identity)
        database.attach(store)
        countOpening(of: database.id)
        try await rules.didCreate(database.rules)
        if Self.isCreated(store, as: identity) {
            logger.notice("Database created", metadata: ["database.id": "\(database.id)"])
        }
        return store
    }

    private func countOpening(of id: DatabaseID) {
        openings.count += 1
        openings.last[id] = openings.count
    }

    private func openStore(
        _ identity: DatabaseIdentity,
        _ exceedsLimit: Bool = false
    ) async throws(StatusError) -> any ClosableStore {
        try await reserveStoreSlot(exceedsLimit)
        do throws(StatusError) {
            return try await host.open(identity)
        } catch {
            storeCount -= 1
            throw clientError(error, of: identity)
        }
    }

    /// Returns the error for clients when a database cannot be opened. The original error may contain paths
    /// on the machine.
    private func clientError(_ error: StatusError, of identity: DatabaseIdentity) -> StatusError {
        guard error.code != .resourceExhausted, let id = identity.id else { return error }
        logger.error(
            "Failed to open database",
            metadata: ["database.id": "\(id)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
        )
        return StatusError(
            error.code,
            "The database \(Excerpt(id.description)) cannot be opened. The server log has the reason. To check the database, stop the "
                + "server and run hearth check --database.",
            cause: error
        )
    }
}

// Eviction.
extension DatabaseRegistry {
    /// Drops unused entries of databases that do not exist if the maximum number of names is reached.
    private func evictUnusedNames() throws(StatusError) {
        guard !isClosed else { throw Self.shuttingDown }
        guard slots.count >= Self.maximumNames else { return }
        slots = slots.filter { _, slot in
            guard case .open(let database) = slot, case .absent = database.state else { return true }
            return database.idleSince == nil || creations[database.id] != nil
        }
        guard slots.count < Self.maximumNames else { throw tooManyDatabases }
    }

    /// Counts one more store. At the limit, closes the least recently used database first.
    private func reserveStoreSlot(_ exceedsLimit: Bool) async throws(StatusError) {
        while true {
            guard !isClosed else { throw Self.shuttingDown }
            if storeCount < limit { break }
            if let task = closingTask {
                _ = await task.value
                continue
            }
            var leastRecentlyUsed: (database: Database, since: ContinuousClock.Instant)?
            for case .open(let database) in slots.values where database.store != nil {
                guard let since = database.idleSince, since < leastRecentlyUsed?.since ?? .now else { continue }
                leastRecentlyUsed = (database, since)
            }
            guard let leastRecentlyUsed else {
                if exceedsLimit { break }
                throw tooManyDatabases
            }
            startClosing(leastRecentlyUsed.database.id, leastRecentlyUsed.database)
        }
        storeCount += 1
    }

    private var closingTask: Task<StatusError?, Never>? {
        for case .closing(let task) in slots.values { return task }
        return nil
    }

    private var tooManyDatabases: StatusError {
        var error = StatusError(
            .resourceExhausted,
            "The maximum number of open databases, \(limit), has been reached. Try again later, or raise --open-databases."
        )
        error.retryAfter = .seconds(1)
        return error
    }
}

// Closing and deleting.
extension DatabaseRegistry {
    /// Deletes a database: closes its streams and transactions, and moves its folder away. Calls in progress fail. The disk space
    /// is freed in the background after this returns.
    ///
    /// - Throws: ``StatusCode/notFound`` if the database does not exist; ``StatusCode/failedPrecondition`` for the default one.
    package func delete(_ id: DatabaseID) async throws(StatusError) {
        guard id != defaultID else {
            throw StatusError(
                .failedPrecondition,
                "The default database cannot be deleted. Delete its documents, or serve another data folder."
            )
        }
        while true {
            guard !isClosed else { throw Self.shuttingDown }
            if let task = creations[id] {
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

    /// Starts deleting a database. From then on, it cannot be leased.
    private func startDeleting(_ id: DatabaseID, _ database: Database?) -> Task<Result<Void, StatusError>, Never> {
        let task = Task { await Result { () async throws(StatusError) in try await self.remove(id, database) } }
        slots[id] = .closing(
            Task {
                // The error goes to the caller that requested the deletion, not to those that only wait for it to finish.
                _ = await task.value
                return nil
            }
        )
        return task
    }

    private func remove(_ id: DatabaseID, _ database: Database?) async throws(StatusError) {
        defer {
            // Unless the database was closed, its leases remain valid.
            if let database, case .closed = database.state { slots[id] = nil } else { slots[id] = database.map { .open($0) } }
        }
        guard try await host.contains(id) else {
            throw StatusError(.notFound, "No database \(Excerpt(id.description)) exists. databases.list shows all databases.")
        }
        // A failure to write outstanding data is irrelevant for a deleted database.
        if let database { _ = await close(database, .deleted) }
        try await host.delete(id)
        openings.last[id] = nil
        openings.count += 1
        startPurging()
        logger.notice("Database deleted", metadata: ["database.id": "\(id)"])
    }

    /// The interval at which databases are compared with those that other servers have created and deleted.
    private static let maintenanceInterval = Duration.seconds(1)

    /// Follows the databases that other servers create and delete, until the task is cancelled.
    package func runMaintenance() async {
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
            do throws(StatusError) {
                guard try await refresh() else { return }
            } catch {
                logger.warning("Failed to list the databases of all servers", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Opens the databases that other servers have created, where this one knows the name, and closes those that others have deleted.
    /// One that cannot be opened is tried again at the next call.
    ///
    /// - Returns: False if no other process creates or deletes databases.
    @discardableResult
    func refresh() async throws(StatusError) -> Bool {
        guard slots.values.contains(where: { if case .open = $0 { true } else { false } }) else { return true }
        guard let epochs = try await host.sharedDatabases() else { return false }
        let changed = slots.compactMap { id, slot -> Database? in
            guard case .open(let database) = slot, epochs[id] != database.knownEpoch else { return nil }
            return database
        }
        guard !changed.isEmpty, !isClosed, let current = try await host.sharedDatabases() else { return true }
        // This server may have created or deleted one of them since the first look.
        for database in changed {
            guard case .open(let known) = slots[database.id], known === database, current[database.id] != database.knownEpoch
            else { continue }
            guard database.store == nil else {
                await startDropping(database.id, database).value
                continue
            }
            do throws(StatusError) {
                _ = try await create(database)
            } catch {
                logger.warning(
                    "Failed to open a database that another server has created",
                    metadata: ["database.id": "\(database.id)", "error": "\(error)"]
                )
            }
        }
        return true
    }

    /// Starts closing a database that another server has deleted. From then on, it cannot be leased.
    private func startDropping(_ id: DatabaseID, _ database: Database) -> Task<Void, Never> {
        let task = Task {
            _ = await close(database, .deleted)
            slots[id] = nil
            openings.last[id] = nil
            openings.count += 1
            logger.notice("Database deleted by another server", metadata: ["database.id": "\(id)"])
        }
        slots[id] = .closing(
            Task {
                await task.value
                return nil
            }
        )
        return task
    }

    /// Returns whether a database is open, or about to be.
    func isOpen(_ id: DatabaseID) -> Bool { slots[id] != nil }

    /// Closes a database while its files are replaced or changed. Calls in progress fail with an error after which clients try again.
    ///
    /// - Parameter body: Replaces the files.
    func replace(_ id: DatabaseID, _ body: @escaping @Sendable () async throws(StatusError) -> Void) async throws(StatusError) {
        while true {
            guard !isClosed else { throw Self.shuttingDown }
            switch slots[id] {
            case .opening(let task): _ = await task.value
            case .closing(let task): _ = await task.value
            case .open(let database): return try await startReplacing(id, database, body).value.get()
            case nil: return try await startReplacing(id, nil, body).value.get()
            }
        }
    }

    /// Starts replacing the files of a database. Until it has ended, the database cannot be leased.
    private func startReplacing(
        _ id: DatabaseID,
        _ database: Database?,
        _ body: @escaping @Sendable () async throws(StatusError) -> Void
    ) -> Task<Result<Void, StatusError>, Never> {
        let task = Task {
            await Result { () async throws(StatusError) in
                defer { self.slots[id] = nil }
                if let database, let error = await self.close(database, .evicted) { throw error }
                try await body()
            }
        }
        slots[id] = .closing(
            Task {
                _ = await task.value
                return nil
            }
        )
        return task
    }

    /// Starts removing the files of deleted databases.
    private func startPurging() {
        let earlier = purgeTask
        purgeTask = Task {
            await earlier?.value
            do throws(StatusError) {
                try await host.purgeDeletedDatabases()
            } catch {
                logger.warning("Failed to remove the files of deleted databases", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Closes all databases after the last call has ended.
    ///
    /// - Returns: The error of a database that could not be closed cleanly, or `nil`.
    package func close() async -> StatusError? {
        isClosed = true
        await stopBackups()
        host.stopPurging()
        await purgeTask?.value
        for task in creations.values { _ = await task.value }
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

    /// Starts closing a database. From then on, it cannot be leased.
    private func startClosing(_ id: DatabaseID, _ database: Database) {
        slots[id] = .closing(
            Task {
                let failure = await close(database, .evicted)
                slots[id] = nil
                return failure
            }
        )
    }

    /// Closes a database and its store.
    private func close(_ database: Database, _ reason: Database.CloseReason) async -> StatusError? {
        let store = database.store
        database.close(reason)
        guard let store else { return nil }
        let failure = await store.close()
        storeCount -= 1
        return failure
    }
}
