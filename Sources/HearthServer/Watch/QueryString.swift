import DocumentModel
import StrictJSON

/// The query of a URL in the form that HTML forms and all clients' libraries write: `name=value&…`, other bytes as `%XX`,
/// a space as `+`.
struct QueryString {
    /// The names and values in order, decoded.
    let items: [(name: UTF8Key, value: UTF8Key)]

    /// Reads a query.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a `%` without two digits behind it, and for bytes that are not UTF-8.
    init(_ query: some Collection<UInt8>) throws(StatusError) {
        var items: [(name: UTF8Key, value: UTF8Key)] = []
        for item in query.split(separator: UInt8(ascii: "&")) {
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            items.append((try Self.decode(name), try Self.decode(item.dropFirst(name.count + 1))))
        }
        self.items = items
    }

    private static func decode(_ text: some Collection<UInt8>) throws(StatusError) -> UTF8Key {
        guard let bytes = PercentEncoding.decode(text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }) else {
            throw StatusError(.invalidArgument, "A % in the query is followed by two hexadecimal digits. Write % as %25.")
        }
        guard let key = UTF8Key(validating: bytes) else {
            throw StatusError(.invalidArgument, "The query is not UTF-8 when it is decoded.")
        }
        return key
    }

    /// The query as a JSON object, so that it is decoded as a body is: values as strings, but digits of some names as integers,
    /// and JSON of others as it is.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` where JSON is expected and there is none.
    func json(integers: [UTF8Key], json names: [UTF8Key]) throws(StatusError) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in items {
            writer.key(name)
            if names.contains(name) {
                do {
                    writer.raw(try JSONText(Array(value.utf8)).root.rawBytes)
                } catch {
                    throw StatusError(.invalidArgument, "The value of \(name.string) is not JSON: \(error)")
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
