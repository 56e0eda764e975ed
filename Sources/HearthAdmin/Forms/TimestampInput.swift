import DocumentModel
import DocumentStore

/// A date and time as entered in a form, in the notation that pages show: `2014-09-09 08:00:47.25 UTC`.
///
/// Seconds and the time may be missing, a time without an offset is in UTC, and RFC 3339 is accepted as well. `now` is the time of the
/// server, in milliseconds as a server timestamp.
enum TimestampInput {
    /// Parses the text.
    ///
    /// - Throws: `invalidArgument` for text that is not a date and time, or one out of range.
    static func timestamp(_ text: String) throws(StatusError) -> Timestamp {
        let text = FormTextCoding.trimmed(text)
        return text.utf8.elementsEqual("now".utf8)
            ? Timestamp.current().roundedDownToMilliseconds : try Timestamp(rfc3339: rfc3339(text))
    }

    /// Returns the text with the parts that RFC 3339 requires; text of another form stays invalid.
    private static func rfc3339(_ text: String) -> String {
        var bytes = Array(text.utf8)
        var zone: [UInt8] = []
        if bytes.suffix(3).map({ $0 | 0x20 }).elementsEqual("utc".utf8) {
            bytes.removeLast(3)
            while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
            zone = [UInt8(ascii: "Z")]
        }
        let date = bytes.prefix(dateLength)
        var time = Array(bytes.dropFirst(dateLength))
        guard date.count == dateLength, time.first.map(isSeparator) ?? true else { return text }
        time = Array(time.dropFirst())
        if zone.isEmpty {
            let start = time.firstIndex {
                [UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0)
            }
            zone = start.map { Array(time[$0...]) } ?? [UInt8(ascii: "Z")]
            time = start.map { Array(time[..<$0]) } ?? time
        }
        if time.isEmpty { time = Array("00:00".utf8) }
        if time.count == "00:00".utf8.count { time += ":00".utf8 }
        var normalized = Array(date)
        normalized.append(UInt8(ascii: "T"))
        normalized += time
        normalized += zone
        return String(decoding: normalized, as: UTF8.self)
    }

    private static let dateLength = 10

    private static func isSeparator(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "T"), UInt8(ascii: "t")].contains(byte)
    }
}
