/// The packages of functions.
enum Package: String, Sendable, CaseIterable {
    case duration
    case hashing
    case latlng
    case math
    case timestamp
}

/// A function of a package.
enum PackageFunction: String, Sendable, CaseIterable {
    case durationAbs = "duration.abs"
    case durationTime = "duration.time"
    case durationValue = "duration.value"
    case crc32 = "hashing.crc32"
    case crc32c = "hashing.crc32c"
    case md5 = "hashing.md5"
    case sha256 = "hashing.sha256"
    case latlngValue = "latlng.value"
    case abs = "math.abs"
    case ceil = "math.ceil"
    case floor = "math.floor"
    case isInfinite = "math.isInfinite"
    case isNaN = "math.isNaN"
    case pow = "math.pow"
    case round = "math.round"
    case sqrt = "math.sqrt"
    case timestampDate = "timestamp.date"
    case timestampValue = "timestamp.value"

    var parameterCount: Int {
        switch self {
        case .durationTime: 4
        case .timestampDate: 3
        case .durationValue, .latlngValue, .pow: 2
        default: 1
        }
    }
}

/// A function that is called by its name alone; each has one parameter.
enum GlobalFunction: String, Sendable, CaseIterable {
    case get
    case exists
    case getAfter
    case existsAfter
    case debug
    case int
    case float
    case string
    case path
}

/// A function of a value.
enum ValueFunction: String, Sendable, CaseIterable {
    case addedKeys
    case affectedKeys
    case bind
    case changedKeys
    case concat
    case date
    case day
    case dayOfWeek
    case dayOfYear
    case diff
    case difference
    case distance
    case get
    case hasAll
    case hasAny
    case hasOnly
    case hours
    case intersection
    case join
    case keys
    case latitude
    case longitude
    case lower
    case matches
    case minutes
    case month
    case nanos
    case removeAll
    case removedKeys
    case replace
    case seconds
    case size
    case split
    case time
    case toBase64
    case toHexString
    case toMillis
    case toSet
    case toUtf8
    case trim
    case unchangedKeys
    case union
    case upper
    case values
    case year

    var parameterCount: Int {
        switch self {
        case .get, .replace: 2
        case .bind, .concat, .diff, .difference, .distance, .hasAll, .hasAny, .hasOnly, .intersection, .join, .matches,
            .removeAll, .split, .union:
            1
        default: 0
        }
    }

    /// True if the first argument is a regular expression.
    var takesRegularExpression: Bool { self == .matches || self == .replace || self == .split }
}
