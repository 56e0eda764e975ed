import DocumentModel
import DocumentStore
import Foundation
import HearthAdmin
import HearthService
import JSONRPC
import Logging
import ServiceLifecycle
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import HearthServer

/// A server that answers, on a port and a store of its own.
struct TestServer: Sendable {
    let port: Int
    let context: ServiceContext
    /// The memory for the bodies of requests.
    let bodies: BodyBudget
    /// The memory for the answers to calls.
    let answers: AnswerBudget
    /// The data folder.
    let folder: String
    private let stop: @Sendable () async -> Void

    init(
        port: Int,
        context: ServiceContext,
        bodies: BodyBudget,
        answers: AnswerBudget,
        folder: String,
        stop: @escaping @Sendable () async -> Void
    ) {
        self.port = port
        self.context = context
        self.bodies = bodies
        self.answers = answers
        self.folder = folder
        self.stop = stop
    }

    /// Tells the server to stop gracefully; it may take a while until it has.
    func stopGracefully() async {
        await stop()
    }

    /// Returns when something is so that the server does in its own time; asks it for other things meanwhile.
    func wait(until isReached: () -> Bool) async throws {
        try await withConnection(to: self) { connection in
            while !isReached() {
                _ = try await connection.ask("GET", "/health")
            }
        }
    }

    /// Writes a file of the data folder, as people can.
    func write(_ text: String, toFile path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent(path))
    }

    /// Sets a document.
    func set(_ path: String, _ fields: MapValue) async throws {
        _ = try await SetDocument.call(.set(try DocumentPath(path), fields), in: context)
    }

    /// Makes a key, and gives its text.
    func makeKey(_ role: Role, collections: [String] = [], expireTime: Timestamp? = nil) async throws -> String {
        let paths = try collections.map { try CollectionPath($0) }
        let description = try AccessKey.Description(
            role: role,
            collections: paths.isEmpty ? nil : paths,
            expireTime: expireTime
        )
        return try await context.keys.create(description).text
    }

    func delete(_ path: String) async throws {
        _ = try await DeleteDocument.call(.delete(try DocumentPath(path)), in: context)
    }
}

/// The folder that holds the templates and static files of the pages.
private let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

/// Reading and compiling them takes longer than most tests.
private let pageAssets = Result { try PageAssets(.find(explicit: repository)) }

/// Runs `body` with a server whose project is `p`, tells the server to stop, and returns when it has.
func withServer(
    _ configuration: HearthServerConfiguration = .standard,
    limits: ServiceLimits = ServiceLimits(),
    databaseLimit: Int = 16,
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    hasPages: Bool = false,
    _ body: @Sendable (TestServer) async throws -> Void
) async throws {
    // In memory where that is possible, so that nothing waits for a disk that others use too.
    let folder = TemporaryFolder.memory + "/hearth-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var storeConfiguration = FileStoreConfiguration(folder: folder)
    // A busy machine is no fault.
    storeConfiguration.indexPatience = .seconds(120)
    // Preallocating journal is most of what a small store costs.
    storeConfiguration.segmentBytes = 256 << 10
    let store = try await FileStore.open(storeConfiguration, logger: logger)
    let databases = try await Databases.open(
        besides: DatabaseID(project: "p"),
        storeConfiguration,
        limit: databaseLimit,
        logger: logger
    )
    let context = ServiceContext(
        store: store,
        server: ServerDescription(limits: limits),
        keys: try await AccessKeys.open(inFolder: folder, logger: logger),
        databases: databases
    )
    let (ports, port) = AsyncStream<Int>.makeStream()
    let pages =
        hasPages ? AdminPages(context: context, assets: try pageAssets.get(), uploadFolder: folder, logger: logger) : nil
    let server = try HearthServer(configuration: configuration, context: context, logger: logger) { router, streams in
        pages?.addRoutes(to: router, streams: streams)
    } onRunning: {
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
                    TestServer(port: port, context: context, bodies: server.bodies, answers: server.answers, folder: folder) {
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

extension HearthServerConfiguration {
    /// The defaults, on a port that the system picks.
    static var standard: Self {
        Self().with(\.port, 0)
    }

    /// The configuration with another value.
    func with<Value>(_ property: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
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
