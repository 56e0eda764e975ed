import DocumentModel
import StrictJSON

/// The parameters of a header such as `Content-Disposition: form-data; name="file"; filename="a;b.csv"`.
///
/// Browsers write a quotation mark and line breaks within quotes as `%22`, `%0D` and `%0A`, and everything else as it is; other
/// programs put a backslash before a quotation mark.
struct DispositionHeader {
    private var parameters: [(name: [UInt8], value: UTF8Key)] = []

    /// Reads what stands behind the first semicolon; what can't be read ends it.
    init(_ line: ArraySlice<UInt8>) {
        var rest = line.drop { $0 != UInt8(ascii: ";") }
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            let value = rest.first == UInt8(ascii: "\"") ? Self.quoted(&rest) : Self.plain(&rest)
            guard let value, let value = UTF8Key(validating: value) else { return }
            parameters.append((name.map { $0 | 0x20 }, value))
        }
    }

    /// The value of a parameter, whose name is in small letters.
    subscript(_ name: StaticString) -> UTF8Key? {
        parameters.first { $0.name.elementsEqual(name.description.utf8) }?.value
    }

    private static func plain(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        let value = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[value.endIndex...]
        return Array(value.reversed().drop { $0 == UInt8(ascii: " ") }.reversed())
    }

    /// What stands within quotes; nil when they are not closed.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = rest.drop { $0 == UInt8(ascii: " ") }
                return value
            }
            // A backslash before anything else is itself, as in the paths of some systems.
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
