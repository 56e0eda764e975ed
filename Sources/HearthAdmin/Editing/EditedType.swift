import DocumentModel
import StrictJSON

/// The type that a value is edited as: those of values, and two ways more to write a string.
enum EditedType: String, CaseIterable, Sendable {
    case string
    /// A string in CSS's hexadecimal notation.
    case color
    /// A string as JSON writes it, for one with characters that a text field can't show or would change.
    case literal
    case integer
    case double
    case boolean
    case timestamp
    case geoPoint = "geo-point"
    case reference
    case bytes
    case vector
    case array
    case map
    case null

    /// The name in the language of the page.
    var name: String {
        switch self {
        case .string: localized("string")
        case .color: localized("colour")
        case .literal: localized("string as JSON")
        case .integer: localized("integer")
        case .double: localized("double")
        case .boolean: localized("boolean")
        case .timestamp: localized("timestamp")
        case .geoPoint: localized("geo point")
        case .reference: localized("reference")
        case .bytes: localized("bytes")
        case .vector: localized("vector")
        case .array: localized("array")
        case .map: localized("map")
        case .null: localized("null")
        }
    }

    /// Whether rows of their own hold what is in it.
    var isContainer: Bool { self == .array || self == .map }

    /// The type of a value, and what stands in its fields.
    static func edited(_ value: Value) -> (type: EditedType, text: String, more: String) {
        switch value {
        case .null: (.null, "", "")
        case .boolean(let value): (.boolean, value ? "true" : "false", "")
        case .integer(let value): (.integer, value.description, "")
        case .double(let value): (.double, Number.text(value), "")
        case .timestamp(let value): (.timestamp, value.rfc3339, "")
        case .string(let value): edited(value)
        case .bytes(let value):
            value.count <= 64 ? (.bytes, Hexadecimal.encode(value), "hex") : (.bytes, Base64.standard.encode(value), "base64")
        case .reference(let path): (.reference, EditedText.line(path.string), "")
        case .geoPoint(let point): (.geoPoint, Number.text(point.latitude), Number.text(point.longitude))
        case .array: (.array, "", "")
        case .vector(let components): (.vector, components.map(Number.text).joined(separator: ", "), "")
        case .map: (.map, "", "")
        }
    }

    private static func edited(_ string: String) -> (type: EditedType, text: String, more: String) {
        if HexColor(string) != nil { return (.color, string, "") }
        return EditedText.isPlain(string, lines: .multiple) ? (.string, string, "") : (.literal, EditedText.literal(string), "")
    }
}

/// Strings in the fields of forms.
///
/// A browser changes some characters on the way, and shows others as nothing. A string with such is written as JSON does, between
/// quotation marks and with escapes.
enum EditedText {
    /// Whether a text field shows the string as it is, and gives it back as it was.
    static func isPlain(_ string: String, lines: DisplayText.Lines) -> Bool {
        // Spaces at the edges are marked for readers only.
        DisplayText(string, lines: lines).runs.allSatisfy { $0.mark.map { $0.scalar == " " } ?? true }
    }

    /// A string on one line: as it is, or as JSON where it isn't plain or could be taken for JSON.
    static func line(_ string: String) -> String {
        let isAmbiguous = string.utf8.first == UInt8(ascii: "\"")
        return isPlain(string, lines: .single) && !isAmbiguous ? string : literal(string)
    }

    /// What a line stands for; nil when it begins as JSON and isn't.
    static func string(ofLine line: String) -> String? {
        guard line.utf8.first == UInt8(ascii: "\"") else { return line }
        return string(ofLiteral: line)
    }

    /// A string as JSON, with escapes for what can't be seen.
    static func literal(_ string: String) -> String {
        var writer = JSONWriter()
        writer.string(string)
        return VisibleJSON.text(writer.finish())
    }

    /// The string that JSON stands for; nil when it isn't one.
    static func string(ofLiteral text: String) -> String? {
        (try? JSONText(text))?.root.string
    }
}
