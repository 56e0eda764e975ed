import StrictJSON

/// How calls are made from a shell, as lines to copy.
struct CurlCommand: Sendable {
    /// The scheme and the host that the server is called by.
    let origin: String
    private let start: String

    /// - Parameters:
    ///   - host: The `Host` that the browser called.
    ///   - needsKey: Whether calls need a key; it is then taken from the shell's `HEARTH_KEY`.
    init(host: String?, needsKey: Bool) {
        let host = host.flatMap { Self.isPlain($0) ? $0 : nil } ?? "127.0.0.1:8080"
        let key = needsKey ? #" -H "Authorization: Bearer $HEARTH_KEY""# : ""
        origin = "http://\(host)"
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
