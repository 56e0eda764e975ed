import HearthWire
import StrictJSON
import UTF8Text

/// A plain-text table of keys.
struct KeyTable {
    /// The header line, followed by one line per key.
    let lines: [String]

    init(_ keys: [JSONNode]) {
        let rows = [["ID", "ROLE", "CREATED", "LAST USED", "EXPIRES", "COLLECTIONS", "LABEL"]] + keys.map(Self.row)
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        lines = rows.map { row in
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func row(of key: JSONNode) -> [String] {
        let collections = key[APIKeyMembers.collections]?.elements.map { $0.map { text($0) }.joined(separator: " ") }
        return [
            text(key[APIKeyMembers.id]), text(key[APIKeyMembers.role]), time(key[APIKeyMembers.createTime]) ?? "",
            time(key[APIKeyMembers.lastUseTime]) ?? "never",
            time(key[APIKeyMembers.expireTime]) ?? "never", collections ?? "all", text(key[APIKeyMembers.label]),
        ]
    }

    /// Returns the text with control characters escaped.
    private static func text(_ json: JSONNode?) -> String {
        Excerpt(json?.string ?? "", maximumBytes: 1_000).text
    }

    /// Returns the time, truncated to seconds.
    private static func time(_ json: JSONNode?) -> String? {
        guard let time = json?.string else { return nil }
        let second = time.utf8.prefix { $0 != UInt8(ascii: ".") }
        return Excerpt(String(decoding: second, as: UTF8.self) + (second.count < time.utf8.count ? "Z" : "")).text
    }
}
