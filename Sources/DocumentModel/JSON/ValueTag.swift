internal import StrictJSON

/// The names that mark a JSON object as a value for which JSON has no form of its own.
///
/// A tagged value is an object with the tag as its only member: `{"$timestamp": "1843-01-01T00:00:00.000000Z"}`.
enum ValueTag: CaseIterable {
    /// A double that is no JSON number: `"NaN"`, `"Infinity"` or `"-Infinity"`.
    case double
    /// A time in RFC 3339 form.
    case timestamp
    /// Bytes in base64.
    case bytes
    /// The path of a document.
    case reference
    /// An object of `latitude` and `longitude`.
    case geoPoint
    /// An array of numbers.
    case vector
    /// A map, for one whose own names begin with `$`.
    case map

    /// The tag as the name of a member.
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

    /// The tag of that name; nil when there is none.
    init?(_ key: UTF8Key) {
        guard let tag = Self.allCases.first(where: { $0.key == key }) else { return nil }
        self = tag
    }
}

extension UTF8Key {
    /// Whether the name begins with `$`, so that in JSON it would be taken for a tag.
    var beginsWithDollar: Bool { utf8.first == UInt8(ascii: "$") }
}
