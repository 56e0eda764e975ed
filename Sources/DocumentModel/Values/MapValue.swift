public import StrictJSON

/// Named values, sorted by the UTF-8 bytes of their names, each name once.
///
/// Looking a name up costs a binary search; adding or removing one moves the members behind it. Two names that
/// differ only in Unicode normalisation are two names.
public struct MapValue: Sendable {
    private var members: [(key: UTF8Key, value: Value)]

    /// Makes an empty map.
    public init() {
        members = []
    }

    /// Makes a map of `members` in any order; of two with the same name the later wins.
    public init(_ members: some Sequence<(key: UTF8Key, value: Value)>) {
        var members = Array(members)
        if !zip(members, members.dropFirst()).allSatisfy({ $0.key < $1.key }) {
            // The sort is stable, so of equal keys the latest is the last.
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

    /// How many members there are.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in order.
    public var keys: [UTF8Key] { members.map(\.key) }

    /// The value of a name; nil when there is none. Setting nil removes the member.
    public subscript(_ key: UTF8Key) -> Value? {
        get {
            let place = place(of: key)
            return place.isFound ? members[place.index].value : nil
        }
        set {
            let place = place(of: key)
            switch (newValue, place.isFound) {
            case (let value?, true): members[place.index].value = value
            case (let value?, false): members.insert((key, value), at: place.index)
            case (nil, true): members.remove(at: place.index)
            case (nil, false): break
            }
        }
    }

    /// Where the key is, or where it would be inserted.
    private func place(of key: UTF8Key) -> (index: Int, isFound: Bool) {
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
    /// The value at a field path, through maps only; nil when a name on the way is missing or its value is no map.
    public subscript(_ path: FieldPath) -> Value? {
        var map = self
        for segment in path.segments.dropLast() {
            guard case .map(let inner)? = map[segment] else { return nil }
            map = inner
        }
        return path.segments.last.flatMap { map[$0] }
    }

    /// Sets the value at a field path; a name on the way that is missing or whose value is no map becomes a map.
    public mutating func set(_ value: Value, at path: FieldPath) {
        set(value, at: path.segments[...])
    }

    /// Removes the value at a field path, leaving the maps around it, even empty ones; without effect when there is none.
    public mutating func remove(at path: FieldPath) {
        remove(at: path.segments[...])
    }

    private mutating func set(_ value: Value, at path: ArraySlice<UTF8Key>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = value
        } else {
            var inner = takeMap(named: name) ?? MapValue()
            inner.set(value, at: path.dropFirst())
            self[name] = .map(inner)
        }
    }

    private mutating func remove(at path: ArraySlice<UTF8Key>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = nil
        } else if var inner = takeMap(named: name) {
            inner.remove(at: path.dropFirst())
            self[name] = .map(inner)
        }
    }

    /// Moves the map of a name out, so that changing it copies nothing; null stands in until it is put back.
    private mutating func takeMap(named name: UTF8Key) -> MapValue? {
        let place = place(of: name)
        guard place.isFound, case .map(let map) = members[place.index].value else { return nil }
        members[place.index].value = .null
        return map
    }
}

extension MapValue: Sequence {
    /// Walks the members in the order of their names.
    public func makeIterator() -> IndexingIterator<[(key: UTF8Key, value: Value)]> {
        members.makeIterator()
    }

    /// How many members there are, which the iterator knows exactly.
    public var underestimatedCount: Int { members.count }
}

extension MapValue: Hashable {
    /// Whether both hold the same names with values that are stored alike.
    public static func == (left: MapValue, right: MapValue) -> Bool {
        left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        for member in members {
            hasher.combine(member.key)
            hasher.combine(member.value)
        }
    }
}

extension MapValue: ExpressibleByDictionaryLiteral {
    /// Makes a map of literal members; of two with the same name the later wins.
    public init(dictionaryLiteral elements: (UTF8Key, Value)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}
