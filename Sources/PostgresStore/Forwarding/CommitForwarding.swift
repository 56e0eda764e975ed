internal import DocumentModel
internal import Synchronization

/// The connection to other servers, by which one forwards commits to the server that has the lease of their database.
package protocol CommitForwarding: Sendable {
    /// Sends a batch to a server, and returns its answer.
    ///
    /// - Parameters:
    ///   - batch: The batch, which ``PostgresHost/commit(forwarded:)`` of that server takes.
    ///   - address: The address of the server.
    ///   - limit: The time limit.
    /// - Throws: ``PeerNotReached`` if nothing was sent. Any other error; the commits may have been made.
    func forward(_ batch: [UInt8], to address: String, within limit: Duration) async throws -> [UInt8]
}

/// The error of a server to which no connection could be made, so that nothing was sent to it.
package struct PeerNotReached: Error {
    package init() {}
}

/// The address of this server for others, and its connection to them. A server that has neither forwards nothing, and nothing is
/// forwarded to it.
final class Peers: Sendable {
    private let shared = Mutex<(address: String, forwarding: any CommitForwarding)?>(nil)

    /// The address of this server; `nil` without one.
    var address: String? { shared.withLock { $0?.address } }

    /// The connection to other servers; `nil` if commits are not forwarded.
    var forwarding: (any CommitForwarding)? { shared.withLock { $0?.forwarding } }

    /// Begins to forward.
    func start(at address: String, _ forwarding: any CommitForwarding) { shared.withLock { $0 = (address, forwarding) } }

    /// Ends forwarding.
    func stop() { shared.withLock { $0 = nil } }
}
