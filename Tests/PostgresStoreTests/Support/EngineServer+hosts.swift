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

    /// Returns hosts that share an empty database: the first takes the leases, and the second forwards all its commits to it.
    func makeForwardingHosts(
        configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> (holder: PostgresHost, sender: PostgresHost, forwarding: LoopbackForwarding) {
        var configuration = try await makeConfiguration()
        configuration.leaseRenewalInterval = .milliseconds(20)
        configuration.leaseDuration = .seconds(120)
        configuration.forwardPause = .zero
        configure(&configuration)
        let forwarding = LoopbackForwarding()
        let holder = try await PostgresHost.open(configuration, logger: .silent)
        forwarding.connect(to: holder)
        holder.startForwarding(at: "http://holder", forwarding)
        while holder.engine.leases.term(of: holder.store.database) == nil { try await Task.sleep(for: .milliseconds(5)) }
        configuration.forwardsAlways = true
        let sender = try await PostgresHost.open(configuration, logger: .silent)
        sender.startForwarding(at: "http://sender", forwarding)
        return (holder, sender, forwarding)
    }

    /// Runs `body` with hosts as ``makeForwardingHosts(configure:)`` returns them, and closes them afterward.
    func withForwardingHosts(
        configure: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (_ holder: PostgresHost, _ sender: PostgresHost, LoopbackForwarding) async throws -> Void
    ) async throws {
        let (holder, sender, forwarding) = try await makeForwardingHosts(configure: configure)
        do {
            try await body(holder, sender, forwarding)
        } catch {
            for host in [holder, sender] { await host.close() }
            throw error
        }
        for host in [holder, sender] { await host.close() }
    }
}

extension PostgresStore {
    /// Waits until the server knows that another one has the lease, in the present term, of which both know.
    func waitUntilForwarding(to holder: PostgresStore) async throws {
        let (database, leases) = (holder.database, holder.engine.leases)
        while true {
            let known = engine.leases.holder(of: database)?.term
            let stored = try await engine.reads.read { connection throws(StatusError) in
                try connection.execute(
                    EngineStatement("SELECT term FROM hearth.leases WHERE db = $1::bigint", .integer(database))
                ).integer(0, 0)
            }
            if known != nil, known == stored, leases.term(of: database) == stored { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
