import DocumentModel
import StrictJSON

/// Serializes documents in an export format, in chunks.
protocol ExportWriter {
    /// Returns the bytes before the first document.
    mutating func begin() -> [UInt8]
    /// Returns the encoded documents.
    mutating func write(_ documents: [EncodedDocument]) throws(StatusError) -> [UInt8]
    /// Returns the bytes after the last document.
    mutating func end() -> [UInt8]
    /// Returns the bytes that end an aborted export: the reason, written so that no parser of the format accepts the file as
    /// complete.
    ///
    /// - Parameter reason: One line of text.
    mutating func abort(_ reason: String) -> [UInt8]
}

/// Writes NDJSON or a JSON array; each document has the form that the API returns, with its path and timestamps.
struct JSONExportWriter: ExportWriter {
    /// True if the documents are elements of an array.
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

    /// Returns a line that is not valid JSON; an array stays unterminated.
    func abort(_ reason: String) -> [UInt8] { Array("\(isArray ? "\n" : "")# \(reason)\n".utf8) }
}
