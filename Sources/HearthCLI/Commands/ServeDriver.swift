import Cryptography
import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import Logging
import PostgresStore
import StorageIO

/// The driver of the databases of a server, and the records that it keeps beside them: in the data folder, or in the engine, where all
/// servers share them.
struct ServeDriver {
    /// The databases.
    let host: any StoreHost
    /// The API keys.
    let keys: any AtomicRecord
    /// The browser sessions of all servers; `nil` to keep them in memory.
    let sessions: (any AtomicRecord)?
    /// The jobs of the admin pages of all servers; `nil` to keep them in memory.
    let jobs: (any AtomicRecord)?
    /// The secret by which the server recognizes what it, or another server of the engine, has issued.
    let secret: SymmetricKey
    /// Returns the records with the rules of a database; `nil` if it does not exist.
    let rulesFiles: @Sendable (DatabaseID?) async throws(StatusError) -> RulesFiles?

    /// The forwarding of commits between the servers of the engine; `nil` without an address of this one.
    var forwarding: ServerForwarding?

    /// Opens the data folder, or connects to the engine.
    ///
    /// - Parameter editRules: The rules about edits of files, if these are asked.
    static func open(
        _ options: ServeOptions,
        primary: String?,
        editRules: EditRules,
        metrics: any StoreObserver,
        logger: Logger
    ) async throws(StatusError) -> ServeDriver {
        if let url = options.engine { return try await open(url, options, metrics, logger) }
        var configuration = FileStoreConfiguration(folder: options.data)
        configuration.observer = metrics
        configuration.primary = primary
        options.limits.apply(to: &configuration)
        options.folderEdits.apply(to: &configuration, rules: editRules)
        let backupFolder = try await options.backup.openFolder(outside: options.data)
        let host = try await FileStoreHost.open(configuration, backupFolder: backupFolder, logger: logger)
        do throws(StatusError) {
            return ServeDriver(
                host: host,
                keys: try await LockedAtomicFile.open(.keys, inFolder: options.data),
                sessions: nil,
                jobs: nil,
                secret: .random()
            ) { id throws(StatusError) in try await RulesFiles(of: id, in: host) }
        } catch {
            await host.close()
            throw error
        }
    }

    private static func open(
        _ url: String,
        _ options: ServeOptions,
        _ metrics: any StoreObserver,
        _ logger: Logger
    ) async throws(StatusError) -> ServeDriver {
        // Checks the folder of the server's own files, before the engine is changed.
        do throws(StatusError) {
            _ = try await LockedAtomicFile.open(.activity, inFolder: options.data, creatingFolder: true)
        } catch {
            throw StatusError(
                .failedPrecondition,
                "The folder of the server's own files cannot be used: \(error.message) Name another one with --server-folder.",
                cause: error
            )
        }
        let tls = try options.peerTLS
        var configuration = PostgresConfiguration(try EngineAddress(url))
        configuration.observer = metrics
        options.limits.apply(to: &configuration)
        let host = try await PostgresHost.open(configuration, logger: logger)
        do throws(StatusError) {
            let secret = SymmetricKey(try await host.secret())
            var driver = ServeDriver(
                host: host,
                keys: host.record(.keys),
                sessions: host.record(.sessions),
                jobs: host.record(.jobs),
                secret: secret
            ) { id throws(StatusError) in
                guard let rules = try await host.record(.rules, of: id),
                    let history = try await host.record(.rulesHistory, of: id)
                else { return nil }
                return RulesFiles(rules: rules, history: history)
            }
            if let address = try options.serverAddress {
                driver.forwarding = ServerForwarding(host, at: address, secret: secret, tls)
            }
            return driver
        } catch {
            await host.close()
            throw error
        }
    }
}

extension ServeDriver {
    /// Closes the databases, and the connections to other servers.
    @discardableResult
    func close() async -> StatusError? {
        let failure = await host.close()
        await forwarding?.shutDown()
        return failure
    }

    /// True if there are keys or rules, so that not everybody can do everything.
    var limitsAccess: Bool {
        get async throws(StatusError) {
            guard let rules = try await rulesFiles(nil)?.rules else { return false }
            return try await Self.limitsAccess(keys, rules)
        }
    }

    /// Returns whether a data folder has keys or rules. It need not exist.
    static func limitsAccess(inFolder path: String) async throws(StatusError) -> Bool {
        do throws(StatusError) {
            return try await limitsAccess(
                LockedAtomicFile.open(.keys, inFolder: path),
                LockedAtomicFile.open(.rules, inFolder: path)
            )
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    private static func limitsAccess(_ keys: any AtomicRecord, _ rules: any AtomicRecord) async throws(StatusError) -> Bool {
        let logger = Logger(label: "hearth.keys", factory: { _ in SwiftLogNoOpLogHandler() })
        if try await APIKeyRegistry.open(keys, logger: logger).hasValidKey { return true }
        return try await rules.version() != nil
    }
}
