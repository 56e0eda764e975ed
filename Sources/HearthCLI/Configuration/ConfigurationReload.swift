import ArgumentParser
import DocumentModel
import HearthAPI
import HearthAdmin
import HearthHTTP
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration of a running server again when the process receives SIGHUP, and applies it wholly or not at all.
struct ConfigurationReload: Service {
    private let server: HTTPServer
    private let pages: AdminPages
    private let tls: ServeTLS?
    private let manager: ServiceManager?
    private let metrics: ConfigurationMetrics
    private let logger: Logger
    /// The thread on which the file is read.
    private let thread = ThreadPoolExecutor("hearth.configuration", count: 1)
    /// The options with which the server was started.
    private let options: ServeOptions

    /// Creates the service.
    ///
    /// - Parameter options: The options with which the server was started.
    init(
        _ options: ServeOptions,
        server: HTTPServer,
        pages: AdminPages,
        tls: ServeTLS?,
        manager: ServiceManager?,
        metrics: ConfigurationMetrics,
        logger: Logger
    ) {
        self.options = options
        self.server = server
        self.pages = pages
        self.tls = tls
        self.manager = manager
        self.metrics = metrics
        self.logger = logger
    }

    /// Waits for signals until the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskExecutorPreference(thread) {
                var options = options
                for await _ in await UnixSignalsSequence(trapping: .sighup) {
                    await manager?.notify(.reloading)
                    options = await reload(options)
                    await manager?.notify(.ready)
                }
            }
        }
    }

    /// Applies the new settings. Returns the ones that are in force from now on.
    private func reload(_ current: ServeOptions) async -> ServeOptions {
        do throws(StatusError) {
            let options = try ServeOptions.reread()
            let changed = try await apply(options, replacing: current)
            logger.notice("Configuration reloaded", metadata: ["config.changed": .array(changed.map { .string($0.name) })])
            metrics.recordReload(isSuccess: true)
            return options
        } catch {
            logger.error("Failed to reload the configuration; keeping the previous one", metadata: ["error": "\(error)"])
            metrics.recordReload(isSuccess: false)
            return current
        }
    }

    /// Applies the changed settings, and returns them.
    ///
    /// - Throws: An error for a setting that cannot be changed or is invalid; nothing has changed then.
    private func apply(_ options: ServeOptions, replacing current: ServeOptions) async throws(StatusError) -> [ServeSetting] {
        let changed = ServeSetting.all.filter { $0.value(options) != $0.value(current) }
        var fixed = changed.filter { !$0.isLive }.map(\.name)
        // A running server goes on with the protocol with which it has begun to listen.
        if (tls == nil) != (options.tls.paths == nil) { fixed.append("tlsCertificate") }
        guard fixed.isEmpty else {
            throw StatusError(
                .failedPrecondition,
                "Changed settings require a restart: \(fixed.joined(separator: ", ")). Restart the server, or undo their change."
            )
        }
        try server.check(options.http)
        if let tls, let paths = options.tls.paths { try await tls.reload(paths) }
        server.apply(options.http)
        pages.allowImages(from: options.imageOrigin)
        return changed
    }
}

extension ServeOptions {
    /// Reads the configuration file of this process again, and the options and variables with which it was started. Blocks.
    fileprivate static func reread() throws(StatusError) -> ServeOptions {
        try ServeConfiguration(ofCommandWithLength: 1).options()
    }
}
