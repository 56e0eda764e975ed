package import Concurrency
import Cryptography
package import DocumentModel
import DocumentStore
package import FileStore
import FirestoreGRPC
import FirestoreREST
import Foundation
package import HearthAPI
import HearthAdmin
package import HearthHTTP
package import Logging
import ServiceLifecycle
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// A running server with its own port and store.
package struct InProcessServer: Sendable {
    package let port: Int
    package let context: ServiceContext
    package let bodyBudget: MemoryBudget
    package let responseBudget: MemoryBudget
    /// The routes of all modules.
    package let routes: [Route]
    /// The data folder.
    package let folder: String
    private let stop: @Sendable () async -> Void

    fileprivate init(
        port: Int,
        context: ServiceContext,
        bodyBudget: MemoryBudget,
        responseBudget: MemoryBudget,
        routes: [Route],
        folder: String,
        stop: @escaping @Sendable () async -> Void
    ) {
        self.port = port
        self.context = context
        self.bodyBudget = bodyBudget
        self.responseBudget = responseBudget
        self.routes = routes
        self.folder = folder
        self.stop = stop
    }

    /// Triggers graceful shutdown without waiting for it to complete.
    package func stopGracefully() async {
        await stop()
    }

    /// Polls a condition that the server fulfills asynchronously, sending requests in the meantime.
    package func wait(until isReached: () -> Bool) async throws {
        try await withConnection(to: self) { connection in
            while !isReached() {
                _ = try await connection.send("GET", "/health")
            }
        }
    }

    /// Writes a file in the data folder.
    package func write(_ text: String, toFile path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent(path))
    }

    /// Moves the folder of documents away, so that the store rejects writes.
    package func removeDocuments() throws {
        try FileManager.default.moveItem(atPath: folder + "/documents", toPath: folder + "/moved")
    }

    /// Reverses ``removeDocuments()``.
    package func restoreDocuments() throws {
        try FileManager.default.moveItem(atPath: folder + "/moved", toPath: folder + "/documents")
    }

    /// Sets a document.
    package func set(_ path: String, _ fields: MapValue) async throws {
        _ = try await SetDocument.call(.set(try DocumentPath(path), fields), in: context)
    }

    /// Creates a key and returns its text.
    package func makeKey(_ role: Role, collections: [String] = [], expireTime: Timestamp? = nil) async throws -> String {
        let paths = try collections.map { try CollectionPath($0) }
        let description = try APIKey.Attributes(
            role: role,
            collections: paths.isEmpty ? nil : paths,
            expireTime: expireTime
        )
        return try await context.keys.create(description).text
    }

    package func delete(_ path: String) async throws {
        _ = try await DeleteDocument.call(.delete(try DocumentPath(path)), in: context)
    }
}

/// The folder with the templates and static files of the pages.
private let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

/// Shared, because reading and compiling the templates takes longer than most tests.
private let pageAssets = Result { try PageAssets(.find(explicit: repository)) }

/// Runs `body` with a server whose project is `p`, then shuts the server down and waits for it to stop.
///
/// - Parameters:
///   - rules: The security rules of the server; `nil` for none.
///   - endUsers: The authentication of end users. If it accepts unsigned tokens, the server is in emulator mode.
///   - additionalModules: Modules with routes of the test's own.
///   - configureStore: Changes the configuration of the stores, and may prepare their data folder.
package func withServer(
    _ configuration: HTTPServerConfiguration = .standard,
    limits: ServiceLimits = ServiceLimits(),
    databaseLimit: Int = 16,
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    metrics: ServerMetrics = ServerMetrics(),
    hasPages: Bool = false,
    allowsClearing: Bool = false,
    rules: String? = nil,
    endUsers: EndUserAuthenticator = EndUserAuthenticator(),
    audit: AuditLog? = nil,
    modules additionalModules: [any RouteModule] = [],
    configureStore: @Sendable (inout FileStoreConfiguration) async throws -> Void = { _ in },
    _ body: @Sendable (InProcessServer) async throws -> Void
) async throws {
    // On a memory file system if there is one, so that tests don't depend on disk load.
    let folder = TemporaryFolder.memory + "/hearth-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var storeConfiguration = FileStoreConfiguration(folder: folder)
    // Tolerates a loaded machine.
    storeConfiguration.indexWaitTimeout = .seconds(120)
    storeConfiguration.indexWaitDocumentCount = .max
    // Journal preallocation is most of the cost of a small store.
    storeConfiguration.segmentBytes = 256 << 10
    storeConfiguration.observer = metrics.store
    try await configureStore(&storeConfiguration)
    let store = try await FileStore.open(storeConfiguration, logger: logger)
    let keys = try await APIKeyRegistry.open(.open(.keys, inFolder: folder), logger: logger)
    let isEmulator = endUsers.acceptsUnsignedTokens
    let registry = RulesRegistry(isEmulator: isEmulator, logger: logger, onRules: { if !isEmulator { keys.requireKeys() } })
    if let rules { try registry.setServerRules(Array(rules.utf8)) }
    if endUsers.authority != nil { keys.requireKeys() }
    let databases = try await DatabaseRegistry.open(
        defaultID: DatabaseID(project: "p"),
        of: FileStoreHost.open(store, storeConfiguration, logger: logger),
        limit: databaseLimit,
        rules: registry,
        logger: logger
    )
    let context = ServiceContext(
        store: store,
        server: ServerDescription(limits: limits, metrics: metrics, audit: audit),
        keys: keys,
        endUsers: endUsers,
        rulesRegistry: registry,
        databases: databases
    )
    let (ports, port) = AsyncStream<Int>.makeStream()
    let pages =
        hasPages
        ? AdminPages(
            context: context,
            assets: try pageAssets.get(),
            uploadFolder: folder,
            formSecret: .random(),
            logger: logger
        ) : nil
    let ownModules: [(any RouteModule)?] = [
        APIModule(context), FirestoreRESTModule(context, allowsClearing: allowsClearing), FirestoreGRPCModule(context),
        pages.map { AdminModule($0) },
    ]
    let modules = ownModules.compactMap { $0 } + additionalModules
    let server = try HTTPServer(
        configuration: configuration,
        context: context,
        modules: modules,
        logger: logger
    ) {
        port.yield($0)
    }
    let group = ServiceGroup(services: [server], logger: logger)
    let result = await Result {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await group.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                try await body(
                    InProcessServer(
                        port: port,
                        context: context,
                        bodyBudget: server.resources.bodyBudget,
                        responseBudget: server.resources.responseBudget,
                        routes: modules.flatMap { $0.routes(using: server.resources) },
                        folder: folder
                    ) {
                        await group.triggerGracefulShutdown()
                    }
                )
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
    #expect(await databases.close() == nil)
    await store.close()
    try result.get()
}

extension HTTPServerConfiguration {
    /// The defaults, on a port that the system chooses, and with time for clients that wait for a processor.
    package static var standard: Self {
        Self().with(\.port, 0).with(\.headTimeout, .seconds(120)).with(\.bodyTimeout, .seconds(120))
    }

    /// Returns the configuration with a changed value.
    package func with<Value>(_ property: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
        var configuration = self
        configuration[keyPath: property] = value
        return configuration
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
