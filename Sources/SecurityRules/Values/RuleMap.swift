package import DocumentModel
package import UTF8Text

/// A map: a stored one, one that rules computed, or the fields of a document of which only facts are known.
package struct RuleMap: Sendable {
    private enum Storage: Sendable {
        case stored(MapValue, database: UTF8Key)
        case computed(Computed)
        case symbolic(SymbolicMap)
    }

    /// Members that rules computed, with what would take long to find out again.
    private final class Computed: Sendable {
        /// The members with unique keys, sorted.
        let members: [(key: UTF8Key, value: RuleValue)]
        let isConcrete: Bool
        /// The work of reading the map; `nil` to find it out when it is needed.
        let weight: Int?

        init(_ members: [(key: UTF8Key, value: RuleValue)], isMeasured: Bool) {
            // The sort is stable, so the last of equal keys is the latest.
            var unique: [(key: UTF8Key, value: RuleValue)] = []
            unique.reserveCapacity(members.count)
            for member in members.sorted(by: { $0.key < $1.key }) {
                if unique.last?.key == member.key { unique.removeLast() }
                unique.append(member)
            }
            self.members = unique
            isConcrete = unique.allSatisfy(\.value.isConcrete)
            weight = isMeasured ? RuleMap.weight(of: unique) : nil
        }
    }

    private let storage: Storage

    /// Creates the map of a stored one.
    package init(_ map: MapValue, in database: UTF8Key) {
        storage = .stored(map, database: database)
    }

    /// Creates a map from members in any order. The last of several members with the same key wins.
    package init(_ members: [(key: UTF8Key, value: RuleValue)]) {
        self.init(members, isMeasured: true)
    }

    /// Creates a map from members in any order.
    ///
    /// - Parameter isMeasured: False to leave ``weight`` until it is needed, for a map with a whole document.
    init(_ members: [(key: UTF8Key, value: RuleValue)], isMeasured: Bool) {
        storage = .computed(Computed(members, isMeasured: isMeasured))
    }

    /// Creates the map of fields of which only facts are known.
    init(_ map: SymbolicMap) {
        storage = .symbolic(map)
    }

    /// False if only facts are known of the map or of a member.
    var isConcrete: Bool {
        switch storage {
        case .stored: true
        case .computed(let map): map.isConcrete
        case .symbolic: false
        }
    }

    /// The work of reading the whole map.
    var weight: Int {
        switch storage {
        case .stored(let map, _): map.weight
        case .computed(let map): map.weight ?? Self.weight(of: map.members)
        case .symbolic: 1
        }
    }

    private static func weight(of members: [(key: UTF8Key, value: RuleValue)]) -> Int {
        members.reduce(1) { $0 + $1.key.byteCount + $1.value.weight }
    }

    /// The map of fields of which only facts are known; `nil` if the members are known.
    var symbolic: SymbolicMap? {
        if case .symbolic(let map) = storage { map } else { nil }
    }

    /// The value of a member; `nil` if there is none. Must not be called for a symbolic map.
    subscript(key: UTF8Key) -> RuleValue? {
        switch storage {
        case .stored(let map, let database):
            return map[key].map { RuleValue($0, in: database) }
        case .computed(let map):
            var (low, high) = (0, map.members.count)
            while low < high {
                let middle = (low + high) / 2
                if map.members[middle].key < key { low = middle + 1 } else { high = middle }
            }
            return low < map.members.count && map.members[low].key == key ? map.members[low].value : nil
        case .symbolic:
            preconditionFailure("the members of a symbolic map are not known")
        }
    }

    /// The keys in ascending order of their bytes; none for a symbolic map.
    var keys: [UTF8Key] {
        switch storage {
        case .stored(let map, _): map.keys
        case .computed(let map): map.members.map(\.key)
        case .symbolic: []
        }
    }

    /// The members in ascending order of their keys; none for a symbolic map.
    var members: [(key: UTF8Key, value: RuleValue)] {
        switch storage {
        case .stored(let map, let database): map.map { ($0.key, RuleValue($0.value, in: database)) }
        case .computed(let map): map.members
        case .symbolic: []
        }
    }

    /// The number of members; 0 for a symbolic map.
    var count: Int {
        switch storage {
        case .stored(let map, _): map.count
        case .computed(let map): map.members.count
        case .symbolic: 0
        }
    }
}

extension RuleMap: Hashable {
    /// Returns whether both have the same members.
    package static func == (left: RuleMap, right: RuleMap) -> Bool {
        if case (.stored(let left, let leftDatabase), .stored(let right, let rightDatabase)) = (left.storage, right.storage),
            leftDatabase == rightDatabase, left == right
        {
            return true
        }
        guard left.isConcrete, right.isConcrete, left.count == right.count else { return false }
        return left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Hashes the members.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for member in members {
            hasher.combine(member.key)
            hasher.combine(member.value)
        }
    }
}
