package import DocumentModel
import DocumentStore
package import Logging
package import SecurityRules
import StorageIO
import Synchronization
package import UTF8Text

/// The security rules of all databases of a server.
///
/// Each database has a file of its own. ``serverRules`` decide for databases without one. Files may be edited while a server runs;
/// ``runMaintenance()`` picks up the change within a second. From the first rules on, every caller needs a key or is an end user.
package final class RulesRegistry: Sendable {
    /// Returns the files of an additional database, or of the default one for `nil`; `nil` if the database does not exist.
    package typealias FileProvider = @Sendable (DatabaseID?) async throws(StatusError) -> RulesFiles?

    private struct State {
        var serverRules: ActiveRules?
        /// The rules that test programs have set, by project.
        var replacements: [UTF8Key: ActiveRules] = [:]
        var databases: [WeakRules] = []
        var hasFoundRules = false
    }

    private struct WeakRules {
        weak var rules: DatabaseRules?
    }

    /// True on a server in emulator mode.
    package let isEmulator: Bool
    private let files: FileProvider
    let logger: Logger
    let now: @Sendable () -> Timestamp
    private let onRules: @Sendable () -> Void
    private let state = Mutex(State())
    private let allowed = Atomic(0)
    private let denied = Atomic(0)

    /// The interval at which files are checked for changes.
    private static let maintenanceInterval = Duration.seconds(1)
    /// The maximum number of projects with replaced rules.
    private static let maximumReplacements = 1_000

    /// The numbers of requests that rules have allowed and denied, in all databases.
    package var decisionCounts: (allowed: Int, denied: Int) {
        (allowed.load(ordering: .relaxed), denied.load(ordering: .relaxed))
    }

    /// Counts a decision.
    func count(_ decision: RulesDecision) {
        if decision.isAllowed { allowed.add(1, ordering: .relaxed) } else { denied.add(1, ordering: .relaxed) }
    }

    /// Creates the registry of a server.
    ///
    /// - Parameters:
    ///   - isEmulator: True in emulator mode.
    ///   - onRules: Called when the first rules are found, whether or not they can be used.
    ///   - files: Returns the files of a database.
    package init(
        isEmulator: Bool = false,
        logger: Logger = Logger(label: "hearth.rules", factory: { _ in SwiftLogNoOpLogHandler() }),
        now: @escaping @Sendable () -> Timestamp = Timestamp.current,
        onRules: @escaping @Sendable () -> Void = {},
        files: @escaping FileProvider = { _ in nil }
    ) {
        self.isEmulator = isEmulator
        self.files = files
        self.logger = logger
        self.now = now
        self.onRules = onRules
    }

    /// The rules for databases without rules of their own; `nil` if there are none.
    package var serverRules: ActiveRules? { state.withLock(\.serverRules) }

    /// True if rules exist, even if they cannot be used.
    package var hasRules: Bool { state.withLock(\.hasFoundRules) }

    /// Returns the rules of a database, after reading its file.
    ///
    /// - Parameters:
    ///   - id: The name of the database.
    ///   - isDefault: True for the default database of the server.
    package func rules(of id: DatabaseID, isDefault: Bool) async throws(StatusError) -> DatabaseRules {
        let rules = DatabaseRules(of: id, in: self)
        try await rules.attach(files(isDefault ? nil : id))
        register(rules)
        return rules
    }

    /// Returns the rules of a database that is open.
    func openRules(of id: DatabaseID) -> DatabaseRules? {
        state.withLock { state in state.databases.lazy.compactMap(\.rules).first { $0.database == id } }
    }

    /// Returns the rules of a database that are kept in memory only: none, until the server's are set.
    func rulesInMemory(of id: DatabaseID) -> DatabaseRules {
        let rules = DatabaseRules(of: id, in: self)
        register(rules)
        return rules
    }

    private func register(_ rules: DatabaseRules) {
        state.withLock { state in
            state.databases.removeAll { $0.rules == nil }
            state.databases.append(WeakRules(rules: rules))
        }
    }

    /// Begins to use the files of an additional database that has been created.
    func didCreate(_ rules: DatabaseRules) async throws(StatusError) {
        try await rules.attach(files(rules.database))
    }

    /// Notes that an additional database that is not open has rules.
    package func checkRules(of id: DatabaseID) async throws(StatusError) {
        if try await files(id)?.rules.version() != nil { didFindRules() }
    }

    func didFindRules() {
        let isFirst = state.withLock { state in
            defer { state.hasFoundRules = true }
            return !state.hasFoundRules
        }
        if isFirst { onRules() }
    }
}

// Rules outside of databases.
extension RulesRegistry {
    /// Compiles rules.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with all errors.
    func compile(_ text: String, from source: ActiveRules.Source) throws(StatusError) -> ActiveRules {
        do throws(RulesError) {
            return try ActiveRules(text, from: source, at: now())
        } catch {
            throw StatusError(error)
        }
    }

    /// Replaces the rules for databases without rules of their own.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with all errors for rules that do not compile; the earlier ones remain.
    package func setServerRules(_ bytes: [UInt8]) throws(StatusError) {
        didFindRules()
        let rules = try compile(ActiveRules.text(of: bytes), from: .server)
        let isChange = state.withLock { state in
            defer { state.serverRules = rules }
            return state.serverRules?.version != rules.version
        }
        guard isChange else { return }
        logger.notice("Security rules of the server active", metadata: ["rules.version": "\(rules.version)"])
        notifyAll()
    }

    /// Replaces all rules of a project's databases until the server ends. In emulator mode only.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` otherwise; ``StatusCode/invalidArgument`` with all errors for rules that do not
    ///   compile, and the earlier ones remain.
    package func replaceRules(ofProject project: UTF8Key, with text: String) throws(StatusError) -> ActiveRules {
        guard isEmulator else {
            throw StatusError(.failedPrecondition, "The server is not in emulator mode. Start it with --emulator.")
        }
        let rules = try compile(text, from: .emulator)
        try state.withLock { state throws(StatusError) in
            guard state.replacements[project] != nil || state.replacements.count < Self.maximumReplacements else {
                throw StatusError(.resourceExhausted, "Too many projects have rules. Restart the server.")
            }
            state.replacements[project] = rules
        }
        notifyAll()
        return rules
    }

    /// Returns the rules that a test program has set for a project, and their coverage so far; `nil` if there are none.
    package func coverage(ofProject project: UTF8Key) -> (Ruleset, RulesCoverage)? {
        guard let rules = replacement(for: project) ?? (isEmulator ? serverRules : nil) else { return nil }
        var coverage = RulesCoverage()
        for database in openDatabases where database.database.project == project {
            if database.active?.version == rules.version, let collected = database.coverage { coverage.merge(collected) }
        }
        return (rules.ruleset, coverage)
    }

    /// Returns the rules that a test program has set for a project.
    func replacement(for project: UTF8Key) -> ActiveRules? {
        guard isEmulator else { return nil }
        return state.withLock { $0.replacements[project] }
    }

    private func notifyAll() {
        for database in openDatabases { database.notifyObservers() }
    }

    private var openDatabases: [DatabaseRules] {
        state.withLock { $0.databases.compactMap(\.rules) }
    }
}

// Maintenance.
extension RulesRegistry {
    /// Follows changes to the files of open databases, until the task is cancelled.
    package func runMaintenance() async {
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil { await refresh() }
    }

    /// Loads the files that have changed.
    func refresh() async {
        for database in openDatabases {
            do throws(StatusError) {
                try await database.refresh()
            } catch {
                logger.error(
                    "Failed to read security rules; keeping the previous ones",
                    metadata: ["database.id": "\(database.database)", "error": "\(error)"]
                )
            }
        }
    }
}
