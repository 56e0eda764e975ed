import ArgumentParser
import DocumentModel
import HearthClient
import HearthService
import Logging
import StrictJSON

/// Whose keys a command is about: those of a data folder here, or of a server.
struct KeyPlace: ParsableArguments {
    @Option(help: ArgumentHelp("Work on this data folder itself, instead of calling a server.", valueName: "dir"))
    var data: String?

    @OptionGroup var server: ServerOptions

    /// Makes a key.
    func create(_ request: KeyRequest) async throws -> (id: String, text: String) {
        if let data {
            let description = try request.description()
            let (key, text) = try await keys(of: data, makingFolder: true).create(description)
            return (key.id.string, text)
        }
        let result = try await server.withConnection { try await $0.call("keys.create") { request.writeMembers(to: &$0) } }
        guard let id = result["id"]?.string, let text = result["key"]?.string else { throw Self.foreignAnswer }
        return (id, text)
    }

    /// The keys, as `keys.list` gives them.
    func list() async throws -> [JSONNode] {
        if let data { return try await keys(of: data).all.map { try JSONText($0.json).root } }
        let result = try await server.withConnection { try await $0.call("keys.list") { _ in } }
        guard let keys = result["keys"]?.elements else { throw Self.foreignAnswer }
        return Array(keys)
    }

    /// Revokes a key.
    func revoke(_ id: String) async throws {
        if let data { return try await keys(of: data).revoke(UTF8Key(id)) }
        _ = try await server.withConnection { connection in
            try await connection.call("keys.revoke") { params in
                params.key("id")
                params.string(id)
            }
        }
    }

    private func keys(of folder: String, makingFolder: Bool = false) async throws(StatusError) -> AccessKeys {
        // What happens is printed.
        let logger = Logger(label: "hearth", factory: { _ in SwiftLogNoOpLogHandler() })
        return try await AccessKeys.open(inFolder: folder, makingFolder: makingFolder, logger: logger)
    }

    private static let foreignAnswer = StatusError(
        .internal,
        "The server gave an answer that is not Hearth's; is something else serving there?"
    )
}

/// A key to be made.
struct KeyRequest {
    let role: String
    let label: String?
    let collections: [String]
    let expireTime: Timestamp?

    /// The request as the service takes it.
    func description() throws(StatusError) -> AccessKey.Description {
        guard let role = Role(name: role) else {
            let names = Role.allCases.map(\.rawValue).joined(separator: ", ")
            throw StatusError(.invalidArgument, "Expected a role (\(names)), found \(Excerpt(role)).")
        }
        let paths = try collections.map { text throws(StatusError) in try CollectionPath(text) }
        return try AccessKey.Description(
            role: role,
            label: label ?? "",
            collections: paths.isEmpty ? nil : paths,
            expireTime: expireTime
        )
    }

    /// Writes the request as the parameters of `keys.create`.
    func writeMembers(to params: inout JSONWriter) {
        params.key("role")
        params.string(role)
        if let label {
            params.key("label")
            params.string(label)
        }
        if !collections.isEmpty {
            params.key("collections")
            params.beginArray()
            for collection in collections { params.string(collection) }
            params.endArray()
        }
        if let expireTime {
            params.key("expireTime")
            params.string(expireTime.rfc3339)
        }
    }
}
