import DocumentModel
import StrictJSON

/// How calls are made from a shell, as lines to copy.
struct CurlCommand: Sendable {
    /// The scheme and the host that the server is called by.
    let origin: String
    private let start: String

    /// - Parameters:
    ///   - host: The `Host` that the browser called.
    ///   - isSecure: Whether it called by TLS.
    ///   - needsKey: Whether calls need a key; it is then taken from the shell's `HEARTH_KEY`.
    init(host: String?, isSecure: Bool = false, needsKey: Bool) {
        let host = host.flatMap { Self.isPlain($0) ? $0 : nil } ?? "127.0.0.1:8080"
        let key = needsKey ? #" -H "Authorization: Bearer $HEARTH_KEY""# : ""
        origin = "\(isSecure ? "https" : "http")://\(host)"
        start = "curl \(origin)/rpc -H 'Content-Type: application/json'\(key) -d "
    }

    /// The line that sends a request.
    ///
    /// - Parameter json: The request.
    func call(_ json: String) -> String {
        // A quote stands only within strings of JSON, where an escape means the same.
        let pieces = json.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return start + "'" + pieces.map { String(Substring($0)) }.joined(separator: #"\u0027"#) + "'"
    }

    /// The line that brings all documents of a database into a file.
    ///
    /// - Parameter database: The database; the default one when nil.
    func export(of database: DatabaseID?) -> String {
        // Its name may hold anything.
        let place = database.map { " --database \(Self.quoted($0.description))" } ?? ""
        return "hearth export --server \(origin)\(place) --output backup.ndjson"
    }

    /// A text as one word of a command line of a POSIX shell.
    private static func quoted(_ text: String) -> String {
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// Whether the text has only what stands in hosts and ports, so that it can't end a word of a command line.
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
