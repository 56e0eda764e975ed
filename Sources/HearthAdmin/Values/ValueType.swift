import DocumentModel

/// The type of a value as pages show it.
enum ValueType: String, Sendable, CaseIterable {
    case null
    case boolean
    case integer
    case double
    case timestamp
    case string
    case bytes
    case reference
    case geoPoint = "geo point"
    case array
    case vector
    case map

    /// Returns the type of a value.
    init(of value: Value) {
        self =
            switch value {
            case .null: .null
            case .boolean: .boolean
            case .integer: .integer
            case .double: .double
            case .timestamp: .timestamp
            case .string: .string
            case .bytes: .bytes
            case .reference: .reference
            case .geoPoint: .geoPoint
            case .array: .array
            case .vector: .vector
            case .map: .map
            }
    }

    /// The localized name.
    var name: String {
        switch self {
        case .null: localized("null")
        case .boolean: localized("boolean")
        case .integer: localized("integer")
        case .double: localized("double")
        case .timestamp: localized("timestamp")
        case .string: localized("string")
        case .bytes: localized("bytes")
        case .reference: localized("reference")
        case .geoPoint: localized("geo point")
        case .array: localized("array")
        case .vector: localized("vector")
        case .map: localized("map")
        }
    }

    /// True if columns of the type are aligned to the right.
    var isNumeric: Bool { self == .integer || self == .double }

    /// Returns whether values of this type are sorted and compared with those of another one: numbers are of one type, as on the page of types.
    func isComparable(to other: ValueType) -> Bool { self == other || isNumeric && other.isNumeric }
}
