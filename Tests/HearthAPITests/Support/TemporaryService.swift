import DocumentModel
import DocumentStore
import DocumentStoreConformance
import FileStore
import Foundation
import HearthAPI
import JSONRPC
import Logging
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// A service with a separate store in a temporary folder.
struct TemporaryService: Sendable {
    let context: ServiceContext
    let folder: String
    private let server: RPCServer<ServiceContext>

    init(context: ServiceContext, folder: String) {
        self.context = context
        self.folder = folder
        self.server = RPCServer(methods: HearthMethods.table) { failure in
            Issue.record("\(failure.method) failed: \(failure.error)")
        }
    }

    /// Returns the service for a caller.
    func withCaller(_ caller: Caller) -> TemporaryService {
        TemporaryService(context: context.withCaller(caller), folder: folder)
    }

    /// Calls a method and returns the response object.
    func response(to method: String, _ params: String) async throws -> JSONNode {
        let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        guard case .response(let response) = await server.handle(Array(body.utf8), context: context) else {
            throw Failure(text: "no response to \(body)")
        }
        return try JSONText(response.joined()).root
    }

    /// Calls a method that must succeed and returns the text of its result.
    @discardableResult
    func result(of method: String, _ params: String) async throws -> String {
        let response = try await response(to: method, params)
        guard let result = response["result"] else {
            throw Failure(text: String(decoding: response.rawBytes, as: UTF8.self))
        }
        return String(decoding: result.rawBytes, as: UTF8.self)
    }

    /// Calls a method that must succeed and returns a member of its result.
    func member(_ name: UTF8Key, of method: String, _ params: String) async throws -> String? {
        try JSONText(await result(of: method, params)).root[name].map { String(decoding: $0.rawBytes, as: UTF8.self) }
    }

    struct Failure: Error {
        let text: String
    }
}

/// Runs `body` with a service on an empty in-memory store.
func withMemoryService(
    _ store: MemoryStore = MemoryStore(),
    transactions: TransactionRegistry = TransactionRegistry(),
    _ body: (TemporaryService) async throws -> Void
) async throws {
    let context = ServiceContext(store: store, transactions: transactions)
    try await body(TemporaryService(context: context, folder: ""))
}

/// Runs `body` with a service on an empty store.
func withService(
    limits: ServiceLimits = ServiceLimits(),
    databaseLimit: Int = 16,
    recentBytes: Int? = nil,
    makesBackups: Bool = false,
    _ body: (TemporaryService) async throws -> Void
) async throws {
    // On a memory file system if possible, so that tests do not wait for a shared disk.
    let folder = TemporaryFolder.memory + "/hearth-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    var configuration = FileStoreConfiguration(folder: folder)
    // Tests must pass on a busy machine.
    configuration.indexWaitTimeout = .seconds(120)
    configuration.indexWaitDocumentCount = .max
    // Journal preallocation is most of the cost of a small store.
    configuration.segmentBytes = 256 << 10
    if let recentBytes { configuration.recentBytes = recentBytes }
    let store = try await FileStore.open(configuration, logger: logger)
    let backups = folder + "-backups"
    defer { try? FileManager.default.removeItem(atPath: backups) }
    let host = try await FileStoreHost.open(
        store,
        configuration,
        backupFolder: makesBackups ? BackupFolder.open(backups, creating: true) : nil,
        logger: logger
    )
    let keys = try await APIKeyRegistry.open(.open(.keys, inFolder: folder), logger: logger)
    let rules = RulesRegistry(
        logger: logger,
        onRules: { keys.requireKeys() },
        files: { id throws(StatusError) in
            guard let rules = try await host.file(.rules, of: id), let history = try await host.file(.rulesHistory, of: id)
            else { return nil }
            return RulesFiles(rules: rules, history: history)
        }
    )
    let databases = try await DatabaseRegistry.open(of: host, limit: databaseLimit, rules: rules, logger: logger)
    let context = ServiceContext(
        store: store,
        server: ServerDescription(limits: limits),
        keys: keys,
        rulesRegistry: rules,
        rules: try await rules.rules(of: databases.defaultID, isDefault: true),
        databases: databases
    )
    do {
        try await body(TemporaryService(context: context, folder: folder))
    } catch {
        _ = await databases.close()
        await store.close()
        throw error
    }
    #expect(await databases.close() == nil)
    await store.close()
}
