import DocumentModel
import StrictJSON

/// What a form of a page sent: names and values, in order.
///
/// Browsers send every line break as CR LF, whatever it was; here it is LF, as pages show it.
struct Form: Sendable {
    /// All that was sent.
    let items: [(name: UTF8Key, value: UTF8Key)]
    /// The file that was chosen.
    let file: ImportFile?
    private let first: [UTF8Key: UTF8Key]

    /// The media type of what forms send.
    static let mediaType: StaticString = "application/x-www-form-urlencoded"

    /// A form that has sent nothing.
    static let empty = Form(items: [])

    /// Reads what was sent; nil when it isn't as browsers send it.
    init?(_ bytes: [UInt8]) {
        var items: [(name: UTF8Key, value: UTF8Key)] = []
        for item in bytes.split(separator: UInt8(ascii: "&")) {
            let end = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            guard let name = Self.decode(item[..<end]), let value = Self.decode(item[end...].dropFirst()) else { return nil }
            items.append((name, value))
        }
        self.init(items: items)
    }

    /// A form of these names and values.
    init(items: [(name: UTF8Key, value: UTF8Key)], file: ImportFile? = nil) {
        self.items = items
        self.file = file
        first = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The first value of a name.
    subscript(_ name: UTF8Key) -> UTF8Key? { first[name] }

    /// The first value of a name without the blanks around it, as texts for people are; empty when there is none.
    func text(_ name: UTF8Key) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t") }
        let text = (first[name]?.string ?? "").utf8.drop(while: isBlank)
        let end = text.lastIndex { !isBlank($0) }.map { text.index(after: $0) } ?? text.startIndex
        return String(Substring(text[..<end]))
    }

    /// All values of a name.
    func values(_ name: UTF8Key) -> [UTF8Key] {
        items.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Whether a button or box of this name was used.
    func has(_ name: UTF8Key) -> Bool { first[name] != nil }

    /// Bytes with LF for each CR LF.
    static func lines(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == UInt8(ascii: "\n"), lines.last == UInt8(ascii: "\r") { lines.removeLast() }
            lines.append(byte)
        }
        return lines
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> UTF8Key? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(part.count)
        var index = part.startIndex
        while index < part.endIndex {
            var byte = part[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < part.endIndex, let high = Hexadecimal.value(of: part[index]),
                    let low = Hexadecimal.value(of: part[index + 1])
                else { return nil }
                byte = high << 4 | low
                index += 2
            } else if byte == UInt8(ascii: "+") {
                byte = UInt8(ascii: " ")
            }
            if byte == UInt8(ascii: "\n"), decoded.last == UInt8(ascii: "\r") { decoded.removeLast() }
            decoded.append(byte)
        }
        return UTF8Key(validating: decoded)
    }
}
