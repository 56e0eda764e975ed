/// One element of a header field that is a list, such as `text/event-stream;q=0.9`: a value and its parameters.
///
/// Everything is compared byte by byte, letters of ASCII in either case.
struct FieldValue {
    /// The value in small letters.
    let value: [UInt8]
    /// The parameters, names in small letters, values without quotation marks.
    let parameters: [(name: [UInt8], value: [UInt8])]

    init(_ text: some Collection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Array($0).trimmed() }
        value = parts.first.map { $0.map(\.lowercased) } ?? []
        parameters = parts.dropFirst().filter { !$0.isEmpty }.map { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = Array(part.dropFirst(name.count + 1)).trimmed()
            return (Array(name).trimmed().map(\.lowercased), value.unquoted())
        }
    }

    /// The elements of a field's value.
    static func list(_ field: String?) -> [FieldValue] {
        field?.utf8.split(separator: UInt8(ascii: ",")).map(FieldValue.init) ?? []
    }

    /// Whether the value is this one, which is given in small letters.
    func isValue(_ name: StaticString) -> Bool {
        value.isEqual(to: name)
    }

    /// Whether the value is this one, which is given in small letters, without parameters.
    func isPlain(_ name: StaticString) -> Bool {
        isValue(name) && parameters.isEmpty
    }

    /// Whether the element says that it is not wanted, by `q=0`.
    var isRefused: Bool {
        parameters.contains { parameter in
            parameter.name.isEqual(to: "q")
                && parameter.value.first == UInt8(ascii: "0")
                && parameter.value.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
        }
    }
}

extension UInt8 {
    /// A letter of ASCII as a small one, and any other byte as it is.
    var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension [UInt8] {
    fileprivate func isEqual(to text: StaticString) -> Bool {
        text.withUTF8Buffer { elementsEqual($0) }
    }

    /// Without the blanks at the beginning and the end (RFC 9110, 5.6.3).
    func trimmed() -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return Array(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    fileprivate func unquoted() -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        return count >= 2 && first == quote && last == quote ? Array(dropFirst().dropLast()) : self
    }
}
