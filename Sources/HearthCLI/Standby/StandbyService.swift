import DocumentModel
import HearthAPI
import Logging
import ServiceLifecycle
import Synchronization

/// Follows the primary while the server runs. It ends early, and the server with it, for a restart.
final class StandbyService: Service {
    private let standby: Standby
    private let connection: PrimaryConnection
    private let result = Mutex<Standby.Transition?>(nil)

    /// Creates the service of a standby.
    init(of context: ServiceContext, _ start: StandbyStart, logger: Logger) throws(StatusError) {
        guard let status = context.server.standby else { throw StatusError(.internal, "The server is no standby.") }
        connection = start.connection
        standby = try Standby(of: context, status, logger: logger, connect: start.connection.open)
    }

    /// The reason for which the server restarts; `nil` if it does not.
    var transition: Standby.Transition? { result.withLock { $0 } }

    func run() async throws {
        let transition = await cancelWhenGracefulShutdown { await self.standby.run() }
        result.withLock { $0 = transition }
        await connection.shutDown()
    }
}
