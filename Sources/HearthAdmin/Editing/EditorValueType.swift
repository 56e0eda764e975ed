import DocumentModel
import UTF8Text

/// A choice in the type menu of the field editor: the value types, and two more representations of strings.
enum EditorValueType: String, CaseIterable, Sendable {
    case string
    /// A string in CSS hex color notation.
    case color
    /// A string as a JSON literal, for characters that a text field cannot show or would change.
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
        case .color: localized("color")
        case .literal: localized("JSON string")
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

    /// True if the contents have separate rows.
    var isContainer: Bool { self == .array || self == .map }

    /// Returns the type of a value and the contents of its input fields.
    static func encode(_ value: Value) -> (type: EditorValueType, text: String, secondaryText: String) {
        switch value {
        case .null: (.null, "", "")
        case .boolean(let value): (.boolean, value ? "true" : "false", "")
        case .integer(let value): (.integer, value.description, "")
        case .double(let value): (.double, NumberFormat.roundTrip(value), "")
        case .timestamp(let value): (.timestamp, value.rfc3339, "")
        case .string(let value): encode(value)
        case .bytes(let value):
            value.count <= 64 ? (.bytes, Hexadecimal.encode(value), "hex") : (.bytes, Base64.standard.encode(value), "base64")
        case .reference(let path): (.reference, FormTextCoding.encodeLine(path.string), "")
        case .geoPoint(let point): (.geoPoint, NumberFormat.roundTrip(point.latitude), NumberFormat.roundTrip(point.longitude))
        case .array: (.array, "", "")
        case .vector(let components): (.vector, components.map(NumberFormat.roundTrip).joined(separator: ", "), "")
        case .map: (.map, "", "")
        }
    }

    private static func encode(_ string: String) -> (type: EditorValueType, text: String, secondaryText: String) {
        if HexColor(string) != nil { return (.color, string, "") }
        return FormTextCoding.roundTrips(string, lines: .multiple)
            ? (.string, string, "") : (.literal, FormTextCoding.encodeLiteral(string), "")
    }
}
