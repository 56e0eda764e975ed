public import UTF8Text

/// A map value: members with unique names, sorted by the UTF-8 bytes of the name.
///
/// Lookup is a binary search; insertion and removal are linear. Names that differ only in Unicode normalization are
/// different.
public struct MapValue: Sendable {
    private var members: [(key: UTF8Key, value: Value)]

    /// Creates an empty map.
    public init() {
        members = []
    }

    /// Creates a map from members in any order. The last of several members with the same name wins.
    public init(_ members: some Sequence<(key: UTF8Key, value: Value)>) {
        var members = Array(members)
        if !zip(members, members.dropFirst()).allSatisfy({ $0.key < $1.key }) {
            // The sort is stable, so the last of equal keys is the latest.
            members.sort { $0.key < $1.key }
            var unique: [(key: UTF8Key, value: Value)] = []
            unique.reserveCapacity(members.count)
            for member in members {
                if unique.last?.key == member.key { unique.removeLast() }
                unique.append(member)
            }
            members = unique
        }
        self.members = members
    }

    /// The number of members.
    public var count: Int { members.count }

    /// True if the map has no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in ascending order.
    public var keys: [UTF8Key] { members.map(\.key) }

    /// The value of a member; `nil` if there is none. Assigning `nil` removes the member.
    public subscript(_ key: UTF8Key) -> Value? {
        get {
            let position = position(of: key)
            return position.isFound ? members[position.index].value : nil
        }
        set {
            let position = position(of: key)
            switch (newValue, position.isFound) {
            case (let value?, true): members[position.index].value = value
            case (let value?, false): members.insert((key, value), at: position.index)
            case (nil, true): members.remove(at: position.index)
            case (nil, false): break
            }
        }
    }

    /// Returns the index of the key, or its insertion index.
    private func position(of key: UTF8Key) -> (index: Int, isFound: Bool) {
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            switch Comparison(bytes: members[middle].key.utf8, key.utf8) {
            case .less: low = middle + 1
            case .equal: return (middle, true)
            case .greater: high = middle
            }
        }
        return (low, false)
    }
}

extension MapValue {
    /// The value at a field path; `nil` if a segment is missing or its parent isn't a map.
    public subscript(_ path: FieldPath) -> Value? {
        var map = self
        for segment in path.segments.dropLast() {
            guard case .map(let inner)? = map[segment] else { return nil }
            map = inner
        }
        return path.segments.last.flatMap { map[$0] }
    }

    /// Sets the value at a field path. Missing parents, and parents that aren't maps, become maps.
    public mutating func set(_ value: Value, at path: FieldPath) {
        set(value, at: path.segments[...])
    }

    /// Removes the value at a field path, if any. Parent maps stay, even if they become empty.
    public mutating func remove(at path: FieldPath) {
        remove(at: path.segments[...])
    }

    private mutating func set(_ value: Value, at path: ArraySlice<UTF8Key>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = value
        } else {
            var inner = extractMap(named: name) ?? MapValue()
            inner.set(value, at: path.dropFirst())
            self[name] = .map(inner)
        }
    }

    private mutating func remove(at path: ArraySlice<UTF8Key>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = nil
        } else if var inner = extractMap(named: name) {
            inner.remove(at: path.dropFirst())
            self[name] = .map(inner)
        }
    }

    /// Moves a nested map out, so that it is mutated in place without a copy; null replaces it until it is put back.
    private mutating func extractMap(named name: UTF8Key) -> MapValue? {
        let position = position(of: name)
        guard position.isFound, case .map(let map) = members[position.index].value else { return nil }
        members[position.index].value = .null
        return map
    }
}

extension MapValue: Sequence {
    /// Returns an iterator over the members in ascending order of their names.
    public func makeIterator() -> IndexingIterator<[(key: UTF8Key, value: Value)]> {
        members.makeIterator()
    }

    /// The exact number of members.
    public var underestimatedCount: Int { members.count }
}

extension MapValue: Hashable {
    /// Returns whether both have the same names with bitwise equal values.
    public static func == (left: MapValue, right: MapValue) -> Bool {
        left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Hashes the names and values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        for member in members {
            hasher.combine(member.key)
            hasher.combine(member.value)
        }
    }
}

extension MapValue: ExpressibleByDictionaryLiteral {
    /// Creates a map from a literal. The last of several members with the same name wins.
    public init(dictionaryLiteral elements: (UTF8Key, Value)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}
