import HearthHTTP
import UTF8Text

/// The items of a URL's query, in order, with decoded names and values.
struct URLQuery: Sendable {
    private var items: [(name: UTF8Key, value: UTF8Key)] = []
    /// True if an item was dropped because it isn't percent-encoded UTF-8.
    private(set) var isMalformed = false

    /// Parses a raw query in the `application/x-www-form-urlencoded` format.
    init(_ raw: String?) {
        for item in QueryString.decodeItems(of: (raw ?? "").utf8) {
            if let item { items.append(item) } else { isMalformed = true }
        }
    }

    /// The first value with a name.
    subscript(_ name: UTF8Key) -> UTF8Key? {
        items.first { $0.name == name }?.value
    }

    /// Returns all values with a name, in order.
    func values(of name: UTF8Key) -> [UTF8Key] {
        items.filter { $0.name == name }.map(\.value)
    }
}
