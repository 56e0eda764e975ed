import DocumentModel

/// Shell commands to copy: method calls with curl and exports with `hearth export`.
struct ShellCommands: Sendable {
    /// The scheme and authority of the server's URL.
    let origin: String
    private let curlPrefix: String

    /// - Parameters:
    ///   - host: The `Host` header of the browser's request.
    ///   - isSecure: Whether the browser connects with TLS.
    ///   - needsKey: Whether calls require an API key; the commands then read it from the environment variable `HEARTH_KEY`.
    init(host: String?, isSecure: Bool = false, needsKey: Bool) {
        let host = host.flatMap { Self.isPlain($0) ? $0 : nil } ?? "127.0.0.1:8080"
        let key = needsKey ? #" -H "Authorization: Bearer $HEARTH_KEY""# : ""
        origin = "\(isSecure ? "https" : "http")://\(host)"
        curlPrefix = "curl \(origin)/rpc -H 'Content-Type: application/json'\(key) -d "
    }

    /// Returns a curl command that sends a JSON-RPC request.
    func curl(_ json: String) -> String {
        // A single quote occurs only inside JSON strings, where its escape is equivalent.
        let pieces = json.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return curlPrefix + "'" + pieces.map { String(Substring($0)) }.joined(separator: #"\u0027"#) + "'"
    }

    /// Returns a command that exports all documents of a database to a file.
    ///
    /// - Parameter database: The database; `nil` for the default one.
    func export(of database: DatabaseID?) -> String {
        "hearth export --server \(origin)\(Self.option(database)) --output backup.ndjson"
    }

    /// Returns the option that selects a database, whose name may contain any character.
    private static func option(_ database: DatabaseID?) -> String {
        database.map { " --database \(quoted($0.description))" } ?? ""
    }

    /// Quotes text as one word for a POSIX shell.
    private static func quoted(_ text: String) -> String {
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// Returns whether a host contains only characters of host names and ports, none of them special in a shell.
    private static func isPlain(_ host: String) -> Bool {
        !host.utf8.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
