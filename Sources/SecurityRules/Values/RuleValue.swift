package import DocumentModel
package import UTF8Text

/// A value of the rules language.
///
/// Documents are not copied: maps and lists of stored values are read in place. `==` and hashing are those inside of lists and
/// sets, where an integer never equals a float; the operator of the language is ``isEqual(to:)``.
package enum RuleValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case float(Double)
    /// A string, compared by its UTF-8 bytes.
    case string(UTF8Key)
    case bytes([UInt8])
    case timestamp(RuleTimestamp)
    case duration(RuleDuration)
    case latlng(GeoPoint)
    case path(RulePath)
    case list(RuleList)
    case set(RuleSet)
    case map(RuleMap)
    indirect case mapDiff(MapDiff)
    /// A value of which only facts are known, in the proof of a query.
    indirect case symbolic(SymbolicValue)
}

extension RuleValue {
    /// Creates the value of a stored value.
    ///
    /// References are paths from the root of the server, so they need the database's ID. Vectors are maps, as in Firestore's
    /// protocol.
    package init(_ value: Value, in database: UTF8Key) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .float(value)
        case .timestamp(let value): self = .timestamp(RuleTimestamp(value))
        case .string(let value): self = .string(UTF8Key(value))
        case .bytes(let value): self = .bytes(value)
        case .reference(let path): self = .path(RulePath(path, in: database))
        case .geoPoint(let value): self = .latlng(value)
        case .array(let elements): self = .list(RuleList(elements, in: database))
        case .vector(let elements):
            let list = RuleValue.list(RuleList(elements.map(RuleValue.float)))
            self = .map(RuleMap([("__type__", .string("__vector__")), ("value", list)]))
        case .map(let map): self = .map(RuleMap(map, in: database))
        }
    }

    /// The type.
    var type: RuleType {
        switch self {
        case .null: .null
        case .boolean: .bool
        case .integer: .int
        case .float: .float
        case .string: .string
        case .bytes: .bytes
        case .timestamp: .timestamp
        case .duration: .duration
        case .latlng: .latlng
        case .path: .path
        case .list: .list
        case .set: .set
        case .map: .map
        case .mapDiff: .mapDiff
        case .symbolic(let value): value.type ?? .unknown
        }
    }

    /// False if only facts are known of the value or of a part of it.
    var isConcrete: Bool {
        switch self {
        case .symbolic: false
        case .list(let list): list.isConcrete
        case .map(let map): map.isConcrete
        case .path(let path): path.isConcrete
        case .mapDiff(let diff): diff.after.isConcrete && diff.before.isConcrete
        default: true
        }
    }
}

extension RuleValue: Hashable {
    /// Returns whether both have the same type and value. NaN equals itself, and -0.0 equals 0.0.
    package static func == (left: RuleValue, right: RuleValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.float(let left), .float(let right)): left == right || (left.isNaN && right.isNaN)
        case (.string(let left), .string(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.duration(let left), .duration(let right)): left == right
        case (.latlng(let left), .latlng(let right)):
            left.latitude == right.latitude && left.longitude == right.longitude
        case (.path(let left), .path(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.set(let left), .set(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.mapDiff(let left), .mapDiff(let right)): left == right
        default: false
        }
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        switch self {
        case .null, .symbolic: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : (value + 0).bitPattern)
        case .string(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .timestamp(let value): hasher.combine(value)
        case .duration(let value): hasher.combine(value)
        case .latlng(let value):
            hasher.combine((value.latitude + 0).bitPattern)
            hasher.combine((value.longitude + 0).bitPattern)
        case .path(let value): hasher.combine(value)
        case .list(let value): hasher.combine(value)
        case .set(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        case .mapDiff(let value): hasher.combine(value)
        }
    }
}
