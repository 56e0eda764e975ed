/// A type of the rules language.
enum RuleType: String, Hashable, Sendable, CaseIterable {
    case bool
    case bytes
    case duration
    case float
    case int
    case latlng
    case list
    case map
    /// Integers and floats.
    case number
    case path
    case string
    case timestamp
    case null
    case set
    case mapDiff = "map_diff"
    /// The type of a value in the proof of a query, if it is not known.
    case unknown

    /// True if `is` accepts the name.
    var isTestable: Bool {
        switch self {
        case .null, .set, .mapDiff, .unknown: false
        default: true
        }
    }

    /// Returns whether all values of this type are also of another one.
    func isSubtype(of other: RuleType) -> Bool {
        self == other || (other == .number && (self == .int || self == .float))
    }

    /// Returns whether no value is of both types.
    func isDisjoint(from other: RuleType) -> Bool {
        self != .unknown && other != .unknown && !isSubtype(of: other) && !other.isSubtype(of: self)
    }
}
