internal import UTF8Text

extension MapValue {
    /// Returns only the fields in the mask. Paths of missing fields are ignored.
    ///
    /// - Parameter mask: Sorted, so that members are appended, and a map precedes the fields inside it.
    package func masked(_ mask: [FieldPath]) -> MapValue {
        var kept = MapValue()
        for path in mask {
            if let value = self[path] { kept.set(value, at: path) }
        }
        return kept
    }

    /// Returns the map with the fields of the mask set from `source`, or removed if `source` doesn't have them.
    ///
    /// Setting a field inside a value that is not a map replaces the value with a map; removing one has no effect. Equivalent
    /// to individual calls to ``set(_:at:)`` and ``remove(at:)``, but merges all members of a map in one pass, since a mask may
    /// have many paths.
    func patched(from source: MapValue, mask: [FieldPath]) -> MapValue {
        patched(from: source, at: mask.sorted()[...], depth: 0)
    }

    /// - Parameter paths: Sorted paths with the same first `depth` segments, and at least one more.
    private func patched(from source: MapValue, at paths: ArraySlice<FieldPath>, depth: Int) -> MapValue {
        var changes: [(key: UTF8Key, value: Value?)] = []
        var rest = paths
        while let first = rest.first {
            let name = first.segments[depth]
            let group = rest.prefix { $0.segments[depth] == name }
            rest = rest.dropFirst(group.count)
            let new = source[name]
            // The shortest path sorts first and covers the others.
            if first.segments.count == depth + 1 {
                changes.append((name, new))
            } else {
                let inner = self[name]?.members
                let patched = (inner ?? MapValue()).patched(from: new?.members ?? MapValue(), at: group, depth: depth + 1)
                // A new map is created only if a field was set in it.
                if inner != nil || !patched.isEmpty { changes.append((name, .map(patched))) }
            }
        }
        return replacing(changes)
    }

    /// Returns the map with members set or removed; `changes` are sorted.
    private func replacing(_ changes: [(key: UTF8Key, value: Value?)]) -> MapValue {
        var result: [(key: UTF8Key, value: Value)] = []
        result.reserveCapacity(count + changes.count)
        var rest = changes[...]
        for member in self {
            while let change = rest.first, change.key < member.key {
                rest.removeFirst()
                if let value = change.value { result.append((change.key, value)) }
            }
            if let change = rest.first, change.key == member.key {
                rest.removeFirst()
                if let value = change.value { result.append((change.key, value)) }
            } else {
                result.append(member)
            }
        }
        for change in rest {
            if let value = change.value { result.append((change.key, value)) }
        }
        return MapValue(result)
    }
}

extension Value {
    /// The members of a map; `nil` for another value.
    var members: MapValue? {
        if case .map(let members) = self { members } else { nil }
    }
}
