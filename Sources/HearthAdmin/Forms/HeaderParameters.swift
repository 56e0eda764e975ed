import UTF8Text

/// The parameters of a header such as `Content-Disposition: form-data; name="file"; filename="a;b.csv"`.
///
/// Browsers percent-encode only quotation marks and line breaks in quoted values, as `%22`, `%0D` and `%0A`; other clients
/// escape quotation marks with a backslash. Both forms are decoded.
struct HeaderParameters {
    private var parameters: [(name: [UInt8], value: UTF8Key)] = []

    /// Parses the parameters after the first semicolon, up to the first malformed one.
    init(_ header: ArraySlice<UInt8>) {
        var rest = header.drop { $0 != UInt8(ascii: ";") }
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            let value = rest.first == UInt8(ascii: "\"") ? Self.quotedValue(&rest) : Self.tokenValue(&rest)
            guard let value, let value = UTF8Key(validating: value) else { return }
            parameters.append((name.map { $0 | 0x20 }, value))
        }
    }

    /// The value of a parameter by its lowercase name.
    subscript(_ name: StaticString) -> UTF8Key? {
        parameters.first { $0.name.elementsEqual(name.description.utf8) }?.value
    }

    private static func tokenValue(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        let value = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[value.endIndex...]
        return Array(value.reversed().drop { $0 == UInt8(ascii: " ") }.reversed())
    }

    /// Consumes a quoted value; `nil` if the closing quotation mark is missing.
    private static func quotedValue(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = rest.drop { $0 == UInt8(ascii: " ") }
                return value
            }
            // Any other backslash is literal, as in Windows paths.
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "\"") {
                rest = rest.dropFirst()
                value.append(UInt8(ascii: "\""))
                continue
            }
            if byte == UInt8(ascii: "%"), let escaped = Hexadecimal.decode(rest.prefix(2))?.first,
                [0x22, 0x0d, 0x0a].contains(escaped)
            {
                rest = rest.dropFirst(2)
                value.append(escaped)
                continue
            }
            value.append(byte)
        }
        return nil
    }
}
