import DocumentModel
import Logging
import TestSupport

@testable import PostgresStore

extension EngineServer {
    /// Returns the configuration of hosts on an empty database.
    func makeConfiguration() async throws -> PostgresConfiguration {
        var configuration = PostgresConfiguration(try EngineAddress(url(await makeDatabase())))
        // Long enough for a busy machine.
        configuration.timeout = .seconds(120)
        configuration.maximumWait = .seconds(120)
        return configuration
    }

    /// Runs `body` with hosts that share an empty database, as servers do, and closes them afterward.
    func withHosts<Result>(
        _ count: Int = 1,
        configure: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: ([PostgresHost]) async throws -> Result
    ) async throws -> Result {
        var configuration = try await makeConfiguration()
        configure(&configuration)
        var hosts: [PostgresHost] = []
        for _ in 0..<count { hosts.append(try await PostgresHost.open(configuration, logger: .silent)) }
        do {
            let result = try await body(hosts)
            for host in hosts { await host.close() }
            return result
        } catch {
            for host in hosts { await host.close() }
            throw error
        }
    }
}
