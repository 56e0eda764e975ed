import StrictJSON

/// How documents are written in a file that is imported.
enum ImportFormat: String, CaseIterable, Sendable {
    /// By the name of the file, or by what it begins with.
    case automatic = "auto"
    /// A document a line: `{"path": …, "fields": {…}}`, or its fields alone.
    case ndjson
    /// An array of such documents, or an object with the IDs as names.
    case json
    /// A table with the names of fields in its first line.
    case csv

    /// The format of a file.
    static func format(ofName name: UTF8Key, _ bytes: [UInt8]) -> ImportFormat {
        var endings = name.utf8.split(separator: UInt8(ascii: ".")).map { ending in
            UTF8Key(String(decoding: ending.map(\.inSmallLetters), as: UTF8.self))
        }
        if endings.last == "gz" { endings.removeLast() }
        switch endings.last {
        case "csv": return .csv
        case "ndjson", "jsonl": return .ndjson
        case "json": return .json
        default: break
        }
        switch bytes.first(where: { $0 > UInt8(ascii: " ") }) {
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return .ndjson
        default: return .csv
        }
    }

    /// The name in the language of the page.
    var name: String {
        switch self {
        case .automatic: localized("by the file’s name")
        case .ndjson: "NDJSON"
        case .json: "JSON"
        case .csv: "CSV"
        }
    }
}

extension UInt8 {
    /// A letter of ASCII as a small one, and any other byte as it is.
    fileprivate var inSmallLetters: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
