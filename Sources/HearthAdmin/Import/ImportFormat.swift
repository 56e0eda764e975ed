import UTF8Text

/// The format of an imported file.
enum ImportFormat: String, CaseIterable, Sendable {
    /// Detected from the file name or the first bytes.
    case automatic = "auto"
    /// One document per line: `{"path": …, "fields": {…}}`, or the fields alone.
    case ndjson
    /// An array of such documents, or an object with document IDs as keys.
    case json
    /// A table with field names in the header row.
    case csv

    /// Detects the format from the extension of the file name, or otherwise from the first bytes.
    static func detect(fileName: UTF8Key, firstBytes: [UInt8]) -> ImportFormat {
        var extensions = fileName.utf8.split(separator: UInt8(ascii: ".")).map { part in
            UTF8Key(String(decoding: part.map(\.lowercased), as: UTF8.self))
        }
        if extensions.last == "gz" { extensions.removeLast() }
        switch extensions.last {
        case "csv": return .csv
        case "ndjson", "jsonl": return .ndjson
        case "json": return .json
        default: break
        }
        switch firstBytes.first(where: { $0 > UInt8(ascii: " ") }) {
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return .ndjson
        default: return .csv
        }
    }

    /// The name in the language of the page.
    var name: String {
        switch self {
        case .automatic: localized("Detect automatically")
        case .ndjson: "NDJSON"
        case .json: "JSON"
        case .csv: "CSV"
        }
    }
}

extension UInt8 {
    /// The lowercase of an ASCII letter; other bytes are unchanged.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
