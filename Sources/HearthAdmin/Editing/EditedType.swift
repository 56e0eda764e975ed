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
