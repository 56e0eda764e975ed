internal import UTF8Text

/// The tags of values that JSON has no type for.
///
/// A tagged value is an object with the tag as its only member: `{"$timestamp": "1843-01-01T00:00:00.000000Z"}`.
enum ValueTag: CaseIterable {
    /// A double that is not a JSON number: `"NaN"`, `"Infinity"` or `"-Infinity"`.
    case double
    /// A time in RFC 3339 format.
    case timestamp
    /// Bytes in base64.
    case bytes
    /// The path of a document.
    case reference
    /// An object of `latitude` and `longitude`.
    case geoPoint
    /// An array of numbers.
    case vector
    /// A map with names that begin with `$`.
    case map

    /// The tag as a member name.
    var key: UTF8Key {
        switch self {
        case .double: "$double"
        case .timestamp: "$timestamp"
        case .bytes: "$bytes"
        case .reference: "$reference"
        case .geoPoint: "$geoPoint"
        case .vector: "$vector"
        case .map: "$map"
        }
    }

    /// Creates the tag with a member name, or `nil` if there is none.
    init?(_ key: UTF8Key) {
        guard let tag = Self.allCases.first(where: { $0.key == key }) else { return nil }
        self = tag
    }
}

extension UTF8Key {
    /// True if the name begins with `$`, which is reserved for tags in JSON.
    var beginsWithDollar: Bool { utf8.first == UInt8(ascii: "$") }
}
