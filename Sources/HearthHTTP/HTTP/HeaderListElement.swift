/// An element of a comma-separated header field, such as `text/event-stream;q=0.9`: a value and its parameters.
///
/// Comparisons are bytewise and ASCII case-insensitive.
package struct HeaderListElement {
    /// The value in lowercase.
    package let value: [UInt8]
    /// The parameters: names in lowercase, values without quotation marks.
    package let parameters: [(name: [UInt8], value: [UInt8])]

    /// Parses one element.
    package init(_ text: some Collection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Array($0).trimmed() }
        value = parts.first.map { $0.map(\.lowercased) } ?? []
        parameters = parts.dropFirst().filter { !$0.isEmpty }.map { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = Array(part.dropFirst(name.count + 1)).trimmed()
            return (Array(name).trimmed().map(\.lowercased), value.unquoted())
        }
    }

    /// Parses the elements of a header field.
    package static func list(_ field: String?) -> [HeaderListElement] {
        field.map { split($0).map { HeaderListElement($0) } } ?? []
    }

    /// Splits a header field at its commas and trims the whitespace around each element.
    static func split(_ field: String) -> [[UInt8]] {
        field.utf8.split(separator: UInt8(ascii: ",")).map { Array($0).trimmed() }
    }

    /// Returns whether the value equals a name, which is given in lowercase.
    package func hasValue(_ name: StaticString) -> Bool {
        value.isEqual(to: name)
    }

    /// Returns whether the value equals a name, which is given in lowercase, and there are no parameters.
    func hasOnlyValue(_ name: StaticString) -> Bool {
        hasValue(name) && parameters.isEmpty
    }

    /// True if the element has the quality value 0, which marks it as not acceptable.
    package var isUnacceptable: Bool {
        parameters.contains { parameter in
            parameter.name.isEqual(to: "q")
                && parameter.value.first == UInt8(ascii: "0")
                && parameter.value.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
        }
    }
}

extension UInt8 {
    /// The lowercase form of an ASCII letter; any other byte unchanged.
    var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension [UInt8] {
    fileprivate func isEqual(to text: StaticString) -> Bool {
        text.withUTF8Buffer { elementsEqual($0) }
    }

    /// Returns the bytes without leading and trailing spaces and tabs (RFC 9110, 5.6.3).
    func trimmed() -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return Array(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    fileprivate func unquoted() -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        return count >= 2 && first == quote && last == quote ? Array(dropFirst().dropLast()) : self
    }
}
