import ArgumentParser
import DocumentModel
import DocumentStore
import StrictJSON

/// `hearth keys`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the keys that callers of a server show.",
        discussion: """
            With --data the keys of a data folder on this machine, whether a server has it open or not: so the first key is made. \
            A server that runs takes a change over within a second. Without --data they are those of a server, which needs the key \
            of an admin.

            Once there was a key, the server refuses every request without one.
            """,
        subcommands: [CreateKeyCommand.self, ListKeysCommand.self, RevokeKeysCommand.self]
    )
}

/// `hearth keys create`
struct CreateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key, and print it.",
        discussion: """
            The key is printed on standard output, this once: only its hash is kept. Roles: reader (read and watch), writer (write \
            too), admin (look at the pages, make and revoke keys too).
            """
    )

    @OptionGroup var place: KeyPlace

    @Option(help: "What the key allows: reader, writer or admin.")
    var role: String

    @Option(help: "What the key is for.")
    var label: String?

    @Option(
        help: ArgumentHelp(
            "A collection that the key is for, with all that is below it; the whole database without. May be repeated.",
            valueName: "path"
        )
    )
    var collection: [String] = []

    @Option(
        help: ArgumentHelp(
            "After how long the key expires (90d, 12h, 30m), or when (2027-01-31T00:00:00Z); never without.",
            valueName: "time"
        ),
        transform: KeyExpiry.init(argument:)
    )
    var expires: KeyExpiry?

    func run() async throws {
        let key = try await place.create(
            KeyRequest(role: role, label: label, collections: collection, expireTime: expires?.time(from: .current()))
        )
        var output = BufferedOutput.standard()
        try output.writeLine(key.text.utf8)
        try output.flush()
        Console.standardError.report("made key \(key.id); keep it now, it is not shown again")
    }
}

/// `hearth keys list`
struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys, without their secrets.",
        discussion: "When a key was used is kept once a minute."
    )

    @OptionGroup var place: KeyPlace

    @Flag(help: "Print each key as a JSON object on a line.")
    var json = false

    func run() async throws {
        let keys = try await place.list()
        var output = BufferedOutput.standard()
        if json {
            for key in keys { try output.writeLine(key.rawBytes) }
        } else if keys.isEmpty {
            Console.standardError.report("there are no keys")
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
        abstract: "Revoke keys: they are refused from now on, and their streams are ended."
    )

    @OptionGroup var place: KeyPlace

    @Argument(help: "The IDs of the keys, as `hearth keys list` shows them.")
    var ids: [String]

    func run() async throws {
        for id in ids { try await place.revoke(id) }
    }
}
