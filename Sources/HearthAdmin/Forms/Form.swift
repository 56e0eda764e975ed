import DocumentModel
import HearthHTTP
import UTF8Text

/// The fields of a submitted form, in order.
///
/// Browsers send every line break as CR LF; the values here have LF.
struct Form: Sendable {
    let items: [(name: UTF8Key, value: UTF8Key)]
    /// The uploaded file of a multipart form.
    let file: UploadedFile?
    private let first: [UTF8Key: UTF8Key]

    /// The media type of URL-encoded forms.
    static let mediaType: StaticString = "application/x-www-form-urlencoded"

    static let empty = Form(items: [])

    /// Decodes a URL-encoded form; `nil` if it is malformed.
    init?(_ bytes: [UInt8]) {
        var items: [(name: UTF8Key, value: UTF8Key)] = []
        for item in QueryString.decodeItems(of: bytes) {
            guard let (name, value) = item, let name = Self.normalizingLineBreaks(name),
                let value = Self.normalizingLineBreaks(value)
            else { return nil }
            items.append((name, value))
        }
        self.init(items: items)
    }

    init(items: [(name: UTF8Key, value: UTF8Key)], file: UploadedFile? = nil) {
        self.items = items
        self.file = file
        first = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The first value of a field.
    subscript(_ name: UTF8Key) -> UTF8Key? { first[name] }

    /// Returns the first value of a field without leading and trailing whitespace, or an empty string.
    func text(_ name: UTF8Key) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t") }
        let text = (first[name]?.string ?? "").utf8.drop(while: isBlank)
        let end = text.lastIndex { !isBlank($0) }.map { text.index(after: $0) } ?? text.startIndex
        return String(Substring(text[..<end]))
    }

    /// Returns all values of a field.
    func values(_ name: UTF8Key) -> [UTF8Key] {
        items.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Returns whether the form has a field, such as a checked box or the pressed button.
    func has(_ name: UTF8Key) -> Bool { first[name] != nil }

    /// Returns the bytes with each CR LF replaced with LF.
    static func normalizingLineBreaks(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == UInt8(ascii: "\n"), lines.last == UInt8(ascii: "\r") { lines.removeLast() }
            lines.append(byte)
        }
        return lines
    }

    private static func normalizingLineBreaks(_ text: UTF8Key) -> UTF8Key? {
        UTF8Key(validating: normalizingLineBreaks(text.utf8))
    }
}

extension Timestamp {
    /// Parses a timestamp from a form field or query item; `nil` if it is malformed.
    init?(formValue text: UTF8Key?) {
        guard let text, let microseconds = Int64(text.string), let time = try? Timestamp(microseconds: microseconds) else {
            return nil
        }
        self = time
    }

    /// The microseconds since 1970, the representation in forms and URLs.
    var formValue: String { String(microseconds) }
}
