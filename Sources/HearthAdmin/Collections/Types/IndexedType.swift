import DocumentModel

/// A type that the index distinguishes, defined by a condition that only its values satisfy.
///
/// Integers and doubles share one order and form one type.
enum IndexedType: String, CaseIterable, Sendable {
    case null
    case boolean
    case number
    case notANumber = "NaN"
    case timestamp
    case string
    case bytes
    case reference
    case geoPoint = "geo point"
    case array
    case vector
    case map

    /// The condition that only values of the type satisfy, usually a comparison with the minimum of the type.
    var condition: (op: Condition.Operator, operand: Value) {
        switch self {
        case .null: (.equal, .null)
        case .boolean: (.greaterOrEqual, .boolean(false))
        case .number: (.greaterOrEqual, .double(-.infinity))
        case .notANumber: (.equal, .double(.nan))
        case .timestamp: (.greaterOrEqual, Self.minimumTimestamp)
        case .string: (.greaterOrEqual, .string(""))
        case .bytes: (.greaterOrEqual, .bytes([]))
        case .reference: (.greaterOrEqual, Self.minimumReference)
        case .geoPoint: (.greaterOrEqual, Self.minimumGeoPoint)
        case .array: (.greaterOrEqual, .array([]))
        case .vector: (.greaterOrEqual, .vector([-.infinity]))
        case .map: (.greaterOrEqual, .map([:]))
        }
    }

    /// Returns whether a value has the type.
    func includes(_ value: Value) -> Bool {
        switch (self, value) {
        case (.null, .null), (.boolean, .boolean), (.timestamp, .timestamp), (.string, .string), (.bytes, .bytes),
            (.reference, .reference), (.geoPoint, .geoPoint), (.array, .array), (.vector, .vector), (.map, .map),
            (.number, .integer):
            true
        case (.number, .double(let double)): !double.isNaN
        case (.notANumber, .double(let double)): double.isNaN
        default: false
        }
    }

    /// The localized name.
    var name: String {
        switch self {
        case .null: localized("null")
        case .boolean: localized("boolean")
        case .number: localized("number")
        case .notANumber: "NaN"
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

    private static let minimumTimestamp: Value =
        (try? Timestamp(rfc3339: "0001-01-01T00:00:00Z")).map(Value.timestamp) ?? .null
    private static let minimumReference: Value = (try? DocumentPath("\u{1}/\u{1}")).map(Value.reference) ?? .null
    private static let minimumGeoPoint: Value =
        (try? GeoPoint(validatingLatitude: -90, longitude: -180)).map(Value.geoPoint) ?? .null
}
