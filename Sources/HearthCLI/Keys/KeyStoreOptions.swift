import ArgumentParser
import DocumentModel
import FileStore
import HearthAPI
import HearthTransport
import HearthWire
import Logging
import PostgresStore
import StrictJSON
import UTF8Text

/// Options that select a key store: a local data folder, an engine or a server.
struct KeyStoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Work directly on this data folder instead of calling a server.", valueName: "dir"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Work directly on this engine, the one of hearth serve --engine, instead of calling a server.",
            valueName: "url"
        )
    )
    var engine: String?

    @OptionGroup var server: ServerOptions

    /// Creates a key.
    func create(_ request: KeyRequest) async throws -> (id: String, text: String) {
        let created = try await withKeys(creatingFolder: true) { keys throws(StatusError) in
            let (key, text) = try await keys.create(request.attributes())
            return (key.id.string, text)
        }
        if let created { return created }
        let result = try await server.withConnection { try await $0.call("keys.create") { request.writeMembers(to: &$0) } }
        guard let id = result[APIKeyMembers.id]?.string, let text = result[APIKeyMembers.key]?.string else {
            throw Self.unexpectedResponse
        }
        return (id, text)
    }

    /// Returns the keys in the format of `keys.list`.
    func list() async throws -> [JSONNode] {
        if let stored = try await withKeys({ $0.all }) { return try stored.map { try JSONText($0.json).root } }
        let result = try await server.withConnection { try await $0.call("keys.list") { _ in } }
        guard let keys = result[APIKeyMembers.keys]?.elements else { throw Self.unexpectedResponse }
        return Array(keys)
    }

    /// Revokes a key.
    func revoke(_ id: String) async throws {
        if try await withKeys({ keys throws(StatusError) in try await keys.revoke(UTF8Key(id)) }) != nil { return }
        _ = try await server.withConnection { connection in
            try await connection.call("keys.revoke") { params in params.member(APIKeyMembers.id, id) }
        }
    }

    func validate() throws {
        guard data == nil || engine == nil else { throw ValidationError("--data and --engine exclude each other.") }
    }

    /// Calls `body` with the keys of the data folder or of the engine; returns `nil` if neither is given.
    private func withKeys<Result>(
        creatingFolder: Bool = false,
        _ body: (APIKeyRegistry) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result? {
        // The command prints the outcome itself.
        let logger = Logger(label: "hearth", factory: { _ in SwiftLogNoOpLogHandler() })
        if let data {
            return try await body(.open(.open(.keys, inFolder: data, creatingFolder: creatingFolder), logger: logger))
        }
        guard let engine else { return nil }
        let configuration = PostgresConfiguration(try EngineAddress(engine))
        return try await EngineRecord.withRecord(.keys, in: configuration, logger: logger) { record throws(StatusError) in
            try await body(.open(record, logger: logger))
        }
    }

    private static let unexpectedResponse = StatusError(
        .internal,
        "Unexpected response. The server at this address may not be a Hearth server."
    )
}

/// The parameters of a new key.
struct KeyRequest {
    let role: String
    let label: String?
    let collections: [String]
    let expireTime: Timestamp?

    /// Returns the validated attributes of the key.
    func attributes() throws(StatusError) -> APIKey.Attributes {
        guard let role = Role(name: role) else {
            let names = Role.allCases.map(\.rawValue).joined(separator: ", ")
            throw StatusError(.invalidArgument, "Unknown role \(Excerpt(role)). Expected one of \(names).")
        }
        let paths = try collections.map { text throws(StatusError) in try CollectionPath(text) }
        return try APIKey.Attributes(
            role: role,
            label: label ?? "",
            collections: paths.isEmpty ? nil : paths,
            expireTime: expireTime
        )
    }

    /// Writes the parameters of `keys.create`.
    func writeMembers(to params: inout JSONWriter) {
        params.member(APIKeyMembers.role, role)
        if let label { params.member(APIKeyMembers.label, label) }
        if !collections.isEmpty {
            params.array(APIKeyMembers.collections, of: collections) { collection, params in params.string(collection) }
        }
        if let expireTime { params.member(APIKeyMembers.expireTime, expireTime.rfc3339) }
    }
}
