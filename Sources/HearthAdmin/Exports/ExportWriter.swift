import DocumentModel
import StrictJSON

/// Writes documents in a format, part by part.
protocol ExportWriter {
    /// What stands before the first document.
    mutating func begin() -> [UInt8]
    /// Some documents.
    mutating func write(_ documents: [EncodedDocument]) throws(StatusError) -> [UInt8]
    /// What stands behind the last one.
    mutating func end() -> [UInt8]
    /// What stands there instead where not all could be written: the reason, in such a way that no reader of the format takes what
    /// there is for the whole.
    ///
    /// - Parameter reason: One line.
    mutating func breakOff(_ reason: String) -> [UInt8]
}

/// Lines of JSON, or one array of it: each document as calls give it, with its path and times.
struct JSONExportWriter: ExportWriter {
    /// Whether the documents are elements of an array.
    let isArray: Bool
    private var count = 0

    init(isArray: Bool) {
        self.isArray = isArray
    }

    func begin() -> [UInt8] { isArray ? Array("[".utf8) : [] }

    mutating func write(_ documents: [EncodedDocument]) -> [UInt8] {
        var bytes: [UInt8] = []
        for document in documents {
            if isArray { bytes += (count == 0 ? "\n" : ",\n").utf8 }
            var writer = JSONWriter(reservingCapacity: document.fieldsJSON.count + 256)
            document.write(to: &writer)
            bytes += writer.finish()
            if !isArray { bytes.append(UInt8(ascii: "\n")) }
            count += 1
        }
        return bytes
    }

    func end() -> [UInt8] { isArray ? Array("\n]\n".utf8) : [] }

    /// A line that is no JSON, and of an array no end.
    func breakOff(_ reason: String) -> [UInt8] { Array("\(isArray ? "\n" : "")# \(reason)\n".utf8) }
}
