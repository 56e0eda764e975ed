import DocumentModel
import HearthAPI
import UTF8Text

/// The color names of the X Window System, read from `rgb.txt`.
///
/// A row consists of a red, a green and a blue value and a name. The file lists many names twice, as `ghost white` and as
/// `GhostWhite`: rows with the same color whose names differ only in case and spaces become one document with all names. Its ID
/// is the name in lowercase without spaces, `ghostwhite`. If such a name has two colors, the ID of the second document
/// includes the color.
enum ColorsExample {
    private static let file = ExampleFile(
        paths: ["/etc/X11/rgb.txt", "/usr/share/X11/rgb.txt"],
        remedy: "Install the Debian package x11-common."
    )

    static func documents() throws(StatusError) -> [ExampleDocument] {
        var entries: [Entry] = []
        var indexes: [Entry.Key: Int] = [:]
        try file.forEachLine { line, origin throws(StatusError) in
            guard let first = line.first, first != UInt8(ascii: "!") else { return }
            let (color, name) = try row(line)
            let key = Entry.Key(name: normalized(name), color: color)
            if let index = indexes[key] {
                entries[index].names.append(name)
            } else {
                indexes[key] = entries.count
                entries.append(Entry(key: key, names: [name], origin: origin))
            }
        }
        var ids: Swift.Set<UTF8Key> = []
        return try entries.map { entry throws(StatusError) in
            let isNew = ids.insert(entry.key.name).inserted
            return try entry.document(id: isNew ? entry.key.name.string : "\(entry.key.name)-\(entry.key.color.hex.dropFirst())")
        }
    }

    /// The rows with the same color and normalized name.
    private struct Entry {
        struct Key: Hashable {
            let name: UTF8Key
            let color: RGBColor
        }

        let key: Key
        var names: [String]
        let origin: ImportOrigin

        func document(id: String) throws(StatusError) -> ExampleDocument {
            ExampleDocument(
                path: try DocumentPath("x11-colors/\(id)"),
                fields: [
                    "name": .string(names[0]),
                    "names": .array(names.map { .string($0) }),
                    "color": .string(key.color.hex),
                    "tags": .array(key.color.tags.map { .string($0) }),
                ],
                origin: origin
            )
        }
    }

    private static func row(_ line: Substring.UTF8View) throws(StatusError) -> (color: RGBColor, name: String) {
        let columns = line.split(maxSplits: 3, omittingEmptySubsequences: true, whereSeparator: \.isBlank)
        let levels = columns.prefix(3).compactMap { UInt8(decimal: $0) }
        guard columns.count == 4, levels.count == 3 else {
            throw StatusError(.dataLoss, "Expected three numbers from 0 to 255 and a name.")
        }
        let name = columns[3].drop(while: \.isBlank)
        return (RGBColor(red: levels[0], green: levels[1], blue: levels[2]), String(Substring(name)))
    }

    private static func normalized(_ name: String) -> UTF8Key {
        UTF8Key(String(decoding: name.utf8.lazy.filter { !$0.isBlank }, as: UTF8.self).lowercased())
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Parses one to three decimal digits.
    fileprivate init?(decimal text: some Collection<UInt8>) {
        guard (1...3).contains(text.count), text.allSatisfy(\.isDigit) else { return nil }
        self.init(exactly: text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
    }
}
