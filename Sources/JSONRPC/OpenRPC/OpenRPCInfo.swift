/// What an OpenRPC document says of the service as a whole.
package struct OpenRPCInfo: Sendable {
    /// A place where the service answers.
    package struct Server: Sendable {
        package let name: String
        package let url: String

        package init(name: String, url: String) {
            self.name = name
            self.url = url
        }
    }

    package let title: String
    /// The version of the calls, not of OpenRPC.
    package let version: String
    package let description: String
    package let servers: [Server]

    package init(title: String, version: String, description: String, servers: [Server] = []) {
        self.title = title
        self.version = version
        self.description = description
        self.servers = servers
    }
}
