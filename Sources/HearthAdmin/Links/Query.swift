import DocumentModel
import StrictJSON

/// The items of a URL's query, in order; each name and value as the bytes it stands for.
struct Query: Sendable {
    private var items: [(name: UTF8Key, value: UTF8Key)] = []
    /// Whether an item is left out, because it isn't percent-encoded UTF-8: nobody knows what it was to say.
    private(set) var isMalformed = false

    /// Reads a raw query as forms send it.
    init(_ raw: String?) {
        for item in (raw ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            if let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : item[item.endIndex...]) {
                items.append((name, value))
            } else {
                isMalformed = true
            }
        }
    }

    /// The first value of a name.
    subscript(_ name: UTF8Key) -> UTF8Key? {
        items.first { $0.name == name }?.value
    }

    /// All values of a name, in order.
    func values(of name: UTF8Key) -> [UTF8Key] {
        items.filter { $0.name == name }.map(\.value)
    }

    private static func decode(_ part: Substring.UTF8View) -> UTF8Key? {
        let spaced = part.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(spaced).flatMap { UTF8Key(validating: $0) }
    }
}
