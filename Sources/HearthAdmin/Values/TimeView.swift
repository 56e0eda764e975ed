import DocumentModel

/// A timestamp formatted for display and for HTML's `datetime` attribute.
struct TimeView: ViewModel {
    /// The value of a `datetime` attribute, with at most three fractional digits.
    let machine: String
    /// Date and time in UTC without trailing zeros: `2014-09-09 08:00:47.25 UTC`.
    let text: String
    /// ``text`` truncated to seconds: `2014-09-09 08:00:47 UTC`.
    let brief: String
    /// The date in UTC: `2014-09-09`.
    let day: String

    init(_ time: Timestamp) {
        // Always has the format `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
        let bytes = Array(time.rfc3339.utf8)
        var fraction = bytes[19..<26]
        while let last = fraction.last, last == UInt8(ascii: "0") || last == UInt8(ascii: ".") { fraction.removeLast() }
        machine = String(decoding: bytes[..<19] + fraction.prefix(4) + [UInt8(ascii: "Z")], as: UTF8.self)
        let date = String(decoding: bytes[..<10], as: UTF8.self)
        let timeOfDay = String(decoding: bytes[11..<19], as: UTF8.self)
        text = "\(date) \(timeOfDay)\(String(decoding: fraction, as: UTF8.self)) UTC"
        day = date
        brief = "\(date) \(timeOfDay) UTC"
    }
}
