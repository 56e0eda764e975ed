package import DocumentModel
internal import DocumentStore
internal import Journal
package import Logging
internal import StorageIO

/// The end of following: the databases of a data folder begin branches of their histories, which accept writes.
///
/// The first step records durably in ``StandbyRecord`` that the folder is no standby any more. When no server has it open, each database
/// gets the epoch of a branch; the branches are recorded before. Each step can be repeated, so a crash in between is harmless: the next
/// start continues.
///
/// An additional database that cannot be opened does not hold up the others. Its branch stays to be begun, by the next start at which
/// it can be opened; until then, no server opens it.
package enum Promotion {
    private static let queue = WorkQueue(label: "hearth.promotion", width: 1)

    /// Records that the folder at a path is promoted when it is opened next. Its databases may be open.
    ///
    /// - Throws: `.failedPrecondition` if it does not follow another server.
    package static func begin(inFolder path: String) async throws(StatusError) {
        try await StandbyRecord.update(ofFolder: path) { record throws(StatusError) in
            guard var record, record.state != .promoted else { throw nothingToPromote }
            guard record.state == .following else { return nil }
            record.state = .promoting
            record.branches = []
            return record
        }
    }

    /// Promotes the folder at a path, which no server has open, or completes a promotion.
    ///
    /// - Throws: `.failedPrecondition` if a server has it open, it has no database, or it does not follow another server.
    package static func run(inFolder path: String, logger: Logger) async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            // No data folder is created where none exists.
            guard try !StandbyDataFolder.isEmpty(path) else {
                throw StatusError(.failedPrecondition, "There is no database in the data folder: there is nothing to promote.")
            }
            guard try StandbyRecord(ofFolder: path) != nil else { throw nothingToPromote }
        }
        try await locked(path) { () async throws(StatusError) in
            try await queue.run { () throws(StatusError) in try DataFolder.open(path).unlock() }
            try await begin(inFolder: path)
            _ = try await completeLocked(inFolder: path, logger: logger)
        }
    }

    private static let nothingToPromote = StatusError(
        .failedPrecondition,
        "The data folder does not follow another server: there is nothing to promote."
    )

    /// Calls a body while no other process promotes the folder.
    ///
    /// - Throws: `.failedPrecondition` if another one does.
    private static func locked<Result>(
        _ path: String,
        _ body: () async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let folder = try await queue.run { () throws(StatusError) in
            let folder = try StandbyFolder.open(in: DataFolder.openExistingRoot(path))
            guard try reporting("lock", StandbyFolder.name, { () throws(FileSystemError) in try folder.descriptor.lock() }) else {
                throw StatusError(
                    .failedPrecondition,
                    "Another process promotes the data folder. Wait until it is done: there is nothing more to do then."
                )
            }
            return folder
        }
        defer { folder.descriptor.unlock() }
        return try await body()
    }

    /// Completes a promotion that was begun in a data folder, if there is one. No server has it open.
    ///
    /// - Returns: Whether the folder was promoted.
    @discardableResult
    package static func complete(inFolder path: String, logger: Logger) async throws(StatusError) -> Bool {
        guard try await unfinishedRecord(ofFolder: path) != nil else { return false }
        return try await locked(path) { () async throws(StatusError) in
            try await completeLocked(inFolder: path, logger: logger)
        }
    }

    /// Returns the record of a folder whose promotion is not complete; `nil` for others.
    private static func unfinishedRecord(ofFolder path: String) async throws(StatusError) -> StandbyRecord? {
        let record = try await queue.run { () throws(StatusError) in try StandbyRecord(ofFolder: path) }
        guard let record, record.state == .promoting || !record.unpromoted.isEmpty else { return nil }
        return record
    }

    private static func completeLocked(inFolder path: String, logger: Logger) async throws(StatusError) -> Bool {
        guard var record = try await unfinishedRecord(ofFolder: path) else { return false }
        // An installation of a snapshot may have been interrupted.
        try await queue.run { () throws(StatusError) in try DataFolder.open(path).unlock() }
        let databases = try await DatabaseFolders.open(inFolder: path)
        let isBegun = record.state == .promoted
        var ids: [DatabaseID?] = []
        for id in isBegun ? record.unpromoted : try await databases.all() {
            if try await databases.contains(id) { ids.append(id) }
        }
        if !isBegun { ids.insert(nil, at: 0) }

        record.unpromoted = []
        // The positions of the databases that have been opened, so that each is opened once.
        var positions: [DatabaseID?: StorePosition] = [:]
        for id in ids where !record.branches.contains(where: { $0.database == id }) {
            do throws(StatusError) {
                let position = try await recoveredPosition(of: id, in: databases, logger: logger)
                guard let parent = Epoch(position.epoch) else {
                    throw StatusError(.internal, "The epoch of a database is invalid.")
                }
                positions[id] = position
                record.branches.append(.init(database: id, parent: parent, epoch: .random()))
            } catch {
                try postpone(id, error, &record, logger)
            }
        }
        try await write(record, path)
        for branch in record.branches where ids.contains(branch.database) {
            do throws(StatusError) {
                try await begin(branch, after: positions[branch.database], in: databases, logger: logger)
            } catch {
                try postpone(branch.database, error, &record, logger)
            }
        }
        record.branches.removeAll { branch in !record.unpromoted.contains { $0 == branch.database } }
        record.state = .promoted
        try await write(record, path)
        return !isBegun
    }

    private static func write(_ record: StandbyRecord, _ path: String) async throws(StatusError) {
        try await StandbyRecord.update(ofFolder: path) { _ throws(StatusError) in record }
    }

    /// Leaves the branch of an additional database to the next start.
    private static func postpone(
        _ id: DatabaseID?,
        _ error: StatusError,
        _ record: inout StandbyRecord,
        _ logger: Logger
    ) throws(StatusError) {
        guard let id else { throw error }
        record.unpromoted.append(id)
        logger.error(
            "Cannot promote a database, which is not opened until it can be; repair it, and start the server again",
            metadata: ["database.id": "\(id)", "error": "\(error)"]
        )
    }

    private static func configuration(of id: DatabaseID?, in databases: DatabaseFolders) -> FileStoreConfiguration {
        var configuration = FileStoreConfiguration(folder: id.map(databases.path(of:)) ?? databases.path)
        configuration.identity = DatabaseIdentity(id)
        configuration.searchesForEditedFiles = false
        return configuration
    }

    /// Returns the position of a database, once a crash has been recovered from, which may have left commits in the journal.
    private static func recoveredPosition(
        of id: DatabaseID?,
        in databases: DatabaseFolders,
        logger: Logger
    ) async throws(StatusError) -> StorePosition {
        let store = try await FileStore.open(configuration(of: id, in: databases), logger: logger)
        if let error = await store.close() { throw error }
        return store.position
    }

    /// - Parameter position: The position of the database; `nil` if it has not been opened.
    private static func begin(
        _ branch: StandbyRecord.Branch,
        after position: StorePosition?,
        in databases: DatabaseFolders,
        logger: Logger
    ) async throws(StatusError) {
        let last: SequenceNumber
        if let position {
            last = position.lastSequence
        } else {
            last = try await recoveredPosition(of: branch.database, in: databases, logger: logger).lastSequence
        }
        let folder = configuration(of: branch.database, in: databases).folder
        try await queue.run { () throws(StatusError) in
            let data = try DataFolder.open(folder, as: DatabaseIdentity(branch.database))
            defer { data.unlock() }
            guard data.manifest.epoch != branch.epoch else { return }
            guard data.manifest.epoch == branch.parent else {
                throw StatusError(
                    .dataLoss,
                    "The database has another history than when its promotion began. Was its folder replaced? Follow the primary again, "
                        + "with an empty data folder."
                )
            }
            let ancestor = AncestorEpoch(branch.parent, through: last)
            let lineage = (data.manifest.lineage + [ancestor]).suffix(AncestorEpoch.maximumCount)
            try data.continueHistory(as: HistoryBranch(epoch: branch.epoch, lineage: Array(lineage)))
        }
        logger.notice(
            "Began a branch of the history of a database",
            metadata: [
                "database.id": "\(branch.database.map { "\($0)" } ?? "default")", "store.epoch": "\(branch.epoch)",
                "store.parent_epoch": "\(branch.parent)", "store.sequence": "\(last)",
            ]
        )
    }
}

extension DataFolder {
    /// Makes the history of a closed data folder continue with another epoch.
    func continueHistory(as branch: HistoryBranch) throws(StatusError) {
        try update { manifest in
            manifest.epoch = branch.epoch
            manifest.lineage = branch.lineage
        }
        try Journal.relabelSegments(in: openJournal(), of: branch.lineage, as: branch.epoch)
    }
}
