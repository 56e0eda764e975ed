import StrictJSON

/// The cookies of a request.
struct Cookies: Sendable {
    private let values: [UTF8Key: UTF8Key]

    /// Reads the header `Cookie` (RFC 6265, 5.4); of two with the same name the first counts, which is the more specific one.
    init(_ header: String?) {
        var values: [UTF8Key: UTF8Key] = [:]
        for pair in (header ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            guard let separator = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = UTF8Key(Substring(pair[..<separator]))
            if values[name] == nil { values[name] = UTF8Key(Substring(pair[pair.index(after: separator)...])) }
        }
        self.values = values
    }

    /// The value of a cookie.
    subscript(_ name: UTF8Key) -> UTF8Key? { values[name] }
}
