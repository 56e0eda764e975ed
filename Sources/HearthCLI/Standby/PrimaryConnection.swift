import DocumentModel
import HearthAPI
import HearthTransport
import Replication
import StorageIO

/// The connection of a standby to its primary. The key is read again for each stream, so that it can be replaced.
actor PrimaryConnection {
    private let address: ServerAddress
    private let options: ServeStandbyOptions
    private var current: (key: String?, authorities: [UInt8]?, connection: HearthConnection)?
    private let queue = WorkQueue(label: "hearth.standby.key", width: 1)

    init(_ address: ServerAddress, _ options: ServeStandbyOptions) {
        self.address = address
        self.options = options
    }

    /// Opens a stream.
    nonisolated func open(_ request: ReplicationRequest) async throws(StatusError) -> any ReplicationStream {
        try await connection().byteStream(at: "/replicate", posting: request.json())
    }

    /// Closes the connection.
    func shutDown() async {
        await current?.connection.shutdown()
        current = nil
    }

    private func connection() async throws(StatusError) -> HearthConnection {
        let (keyFile, caFile) = (options.followKey, options.followCA)
        let (key, authorities) = try await queue.run { () throws(StatusError) in
            (
                try keyFile.map { path throws(StatusError) in try ServerOptions.key(inFile: path) },
                try caFile.map { path throws(StatusError) in try InputFile(path).readToEnd(maximumBytes: 4 << 20) }
            )
        }
        if let current, current.key == key, current.authorities == authorities { return current.connection }
        let connection = try HearthConnection(
            server: address,
            key: key,
            timeout: .seconds(10),
            certificateAuthorities: authorities
        )
        await current?.connection.shutdown()
        current = (key, authorities, connection)
        return connection
    }
}

extension ByteStream: ReplicationStream {}
