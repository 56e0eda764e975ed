import ArgumentParser
import DocumentModel
import DocumentStore
import StrictJSON

/// `hearth keys`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Manage API keys.",
        discussion: """
            With --data, works directly on a data folder on this machine, whether or not a server has it open; this is how the \
            first key is created. A running server applies the change within a second. --engine does the same with the engine of \
            hearth serve --engine, for all its servers. Without either, calls a server, which requires a key with the role admin.

            As soon as the first key has been created, the server rejects requests without a valid key, even after all keys \
            have been revoked.
            """,
        subcommands: [CreateKeyCommand.self, ListKeysCommand.self, RevokeKeysCommand.self]
    )
}

/// `hearth keys create`
struct CreateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an API key and print it.",
        discussion: """
            Prints the key to standard output. It cannot be shown again, since only its hash is stored. Roles: reader (read and \
            watch), writer (also write), admin (also manage keys, indexes and databases).
            """
    )

    @OptionGroup var keyStore: KeyStoreOptions

    @Option(help: "Role of the key: reader, writer or admin.")
    var role: String

    @Option(help: "Description of the key.")
    var label: String?

    @Option(
        help: ArgumentHelp(
            "Restrict the key to a collection and its subcollections. May be repeated. The default is the whole database.",
            valueName: "path"
        )
    )
    var collection: [String] = []

    @Option(
        help: ArgumentHelp(
            "Lifetime of the key (90d, 12h, 30m) or expiry time (2027-01-31T00:00:00Z). The default is no expiry.",
            valueName: "time"
        ),
        transform: KeyExpiry.init(argument:)
    )
    var expires: KeyExpiry?

    func run() async throws {
        let key = try await keyStore.create(
            KeyRequest(role: role, label: label, collections: collection, expireTime: expires?.time(from: .current()))
        )
        var output = BufferedOutput.standard()
        try output.writeLine(key.text.utf8)
        try output.flush()
        Console.standardError.report("Created key \(key.id). Save the key now: it cannot be shown again.")
    }
}

/// `hearth keys list`
struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List API keys, without their secrets.",
        discussion: "The time of last use has a resolution of one minute."
    )

    @OptionGroup var keyStore: KeyStoreOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let keys = try await keyStore.list()
        var output = BufferedOutput.standard()
        if json {
            for key in keys { try output.writeLine(key.rawBytes) }
        } else if keys.isEmpty {
            Console.standardError.report("No keys.")
        } else {
            for line in KeyTable(keys).lines { try output.writeLine(line.utf8) }
        }
        try output.flush()
    }
}

/// `hearth keys revoke`
struct RevokeKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke API keys and close their streams."
    )

    @OptionGroup var keyStore: KeyStoreOptions

    @Argument(help: "Key IDs, as printed by `hearth keys list`.")
    var ids: [String]

    func run() async throws {
        for id in ids { try await keyStore.revoke(id) }
    }
}
