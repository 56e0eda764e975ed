package import UTF8Text

/// The cookies of a request, with undecoded values.
package struct Cookies: Sendable {
    private let values: [UTF8Key: UTF8Key]

    /// Parses the `Cookie` headers of a request. Of two cookies with the same name, the first wins.
    package init(_ fields: [String]) {
        var values: [UTF8Key: UTF8Key] = [:]
        for field in fields {
            for part in field.utf8.split(separator: UInt8(ascii: ";")) {
                let cookie = part.drop { $0 == UInt8(ascii: " ") }
                guard let equals = cookie.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let name = UTF8Key(Substring(cookie[..<equals]))
                if values[name] == nil { values[name] = UTF8Key(Substring(cookie[cookie.index(after: equals)...])) }
            }
        }
        self.values = values
    }

    /// Returns the value of a cookie.
    package subscript(_ name: UTF8Key) -> UTF8Key? { values[name] }
}
