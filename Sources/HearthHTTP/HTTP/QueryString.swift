package import DocumentModel
import StrictJSON
package import UTF8Text

/// The query of a URL in `application/x-www-form-urlencoded` format: `name=value&…`, with `%XX` escapes and `+` for a space.
package struct QueryString {
    /// The decoded names and values, in order.
    package let items: [(name: UTF8Key, value: UTF8Key)]

    /// Decodes a query.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an item that is not percent-encoded UTF-8.
    package init(_ query: some Collection<UInt8>) throws(StatusError) {
        var items: [(name: UTF8Key, value: UTF8Key)] = []
        for item in Self.decodeItems(of: query) {
            guard let item else {
                throw StatusError(.invalidArgument, "The query is not valid percent-encoded UTF-8. Write % as %25.")
            }
            items.append(item)
        }
        self.items = items
    }

    /// Decodes the items of a query; an item that is not percent-encoded UTF-8 is `nil`.
    package static func decodeItems(of query: some Collection<UInt8>) -> [(name: UTF8Key, value: UTF8Key)?] {
        query.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            guard let decodedName = decode(name), let value = decode(item.dropFirst(name.count + 1)) else { return nil }
            return (decodedName, value)
        }
    }

    private static func decode(_ text: some Collection<UInt8>) -> UTF8Key? {
        let spaced = text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(spaced).flatMap { UTF8Key(validating: $0) }
    }

    /// Returns the query as a JSON object, so that it is decoded like a request body.
    ///
    /// - Parameters:
    ///   - integers: The names whose digits become integers.
    ///   - names: The names whose values are JSON, which is embedded. All other values become strings.
    /// - Throws: ``StatusCode/invalidArgument`` for a value that should be JSON and is not.
    func json(integers: [UTF8Key], json names: [UTF8Key]) throws(StatusError) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in items {
            writer.key(name)
            if names.contains(name) {
                do {
                    writer.raw(try JSONText(Array(value.utf8)).root.rawBytes)
                } catch {
                    throw StatusError(.invalidArgument, "The value of \(name.string) is not valid JSON: \(error)")
                }
            } else if integers.contains(name), (1...9).contains(value.byteCount), value.utf8.allSatisfy(\.isDigit),
                let integer = Int64(value.string)
            {
                writer.integer(integer)
            } else {
                writer.string(value.string)
            }
        }
        writer.endObject()
        return writer.finish()
    }
}

extension UInt8 {
    var isDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
