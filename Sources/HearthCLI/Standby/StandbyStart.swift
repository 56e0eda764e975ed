import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import HearthTransport
import Logging
import Replication
import StorageIO

/// The start of a server as a standby or as a primary: what the options say, and what happened to the data folder before.
struct StandbyStart {
    /// The primary to follow.
    let primary: ServerAddress
    let connection: PrimaryConnection

    private static let queue = WorkQueue(label: "hearth.standby", width: 1)
    private static let minimumDelay = Duration.milliseconds(500)
    private static let maximumDelay = Duration.seconds(10)
    private static let branchTimeout = Duration.seconds(3)

    /// Prepares a data folder: completes a promotion, and gets a first snapshot for an empty folder of a standby, however long the
    /// primary cannot be reached.
    ///
    /// - Returns: `nil` if the server is no standby.
    /// - Throws: `.failedPrecondition` for a folder that follows another server, without the option to do so.
    static func prepare(
        _ options: ServeStandbyOptions,
        data: String,
        defaultDatabase: DatabaseID,
        logger: Logger
    ) async throws(StatusError) -> StandbyStart? {
        let isPromoted = try await Promotion.complete(inFolder: data, logger: logger)
        if isPromoted { logger.notice("The data folder was promoted: it accepts writes") }
        let record = try await queue.run { () throws(StatusError) in try StandbyRecord(ofFolder: data) }
        guard let primary = try options.primary else {
            guard let record, record.state == .following else { return nil }
            throw StatusError(
                .failedPrecondition,
                "The data folder follows \(record.primary). Start it with --follow, or promote it first: hearth promote --data DIR"
            )
        }
        if options.followKey != nil, !primary.usesTLS, !primary.isLoopback {
            logger.warning(
                "The key for the primary and all documents are sent without TLS: use an https URL, or a network that nobody else can read",
                metadata: ["standby.primary": "\(primary)"]
            )
        }
        let start = StandbyStart(primary: primary, connection: PrimaryConnection(primary, options))
        if let record, record.state == .promoted, record.primary == primary.description {
            guard !isPromoted, await start.primaryHasBranchedOff(data: data) else {
                await start.connection.shutDown()
                logger.warning(
                    """
                    Ignoring --follow: the data folder was promoted while it followed that server, which has not followed it since. \
                    Remove the option; or, to follow the server again, remove standby/standby.json
                    """,
                    metadata: ["standby.primary": "\(primary)"]
                )
                return nil
            }
        }
        do throws(StatusError) {
            try await start.receiveFirstSnapshot(data: data, defaultDatabase: defaultDatabase, logger: logger)
        } catch {
            await start.connection.shutDown()
            throw error
        }
        // The server opens another one once it runs.
        await start.connection.shutDown()
        return start
    }

    /// Returns whether the server has been promoted itself since this folder was, and its history has branched off from that of this one.
    private func primaryHasBranchedOff(data: String) async -> Bool {
        let position = try? await Self.queue.run { () throws(StatusError) in try StandbyDataFolder.position(data) }
        guard let position, let epoch = Epoch(position.epoch) else { return false }
        let state = ReplicationRequest.State(epoch: epoch, sequence: position.lastSequence, checksum: nil)
        let branch = try? await Standby.branch(of: state, timeout: Self.branchTimeout, connect: connection.open)
        return branch?.lineage.contains { $0.epoch == epoch } ?? false
    }

    private func receiveFirstSnapshot(data: String, defaultDatabase: DatabaseID, logger: Logger) async throws(StatusError) {
        var delay = Self.minimumDelay
        while try await Self.queue.run({ () throws(StatusError) in try StandbyDataFolder.isEmpty(data) }) {
            do throws(StatusError) {
                let receiver = try await Self.queue.run { () throws(StatusError) in
                    try StandbyDataFolder.makeReceiver(inFolder: data)
                }
                logger.notice("Asking the primary for a snapshot", metadata: ["standby.primary": "\(primary)"])
                try await Standby.receiveFirstSnapshot(
                    to: receiver,
                    defaultDatabase: defaultDatabase,
                    connect: connection.open
                )
                try await Self.queue.run { [primary] () throws(StatusError) in
                    try StandbyRecord(primary: primary.description, state: .following).write(toFolder: data)
                    try StandbyDataFolder.install(inFolder: data)
                }
                logger.notice("Received a snapshot of the primary")
            } catch {
                // An operator has to change something first.
                guard error.code != .failedPrecondition else { throw error }
                logger.error("Cannot get a snapshot of the primary; trying again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: delay)
                delay = min(delay * 2, Self.maximumDelay)
            }
        }
    }
}
