internal import StrictJSON

extension MapValue {
    /// The map with the fields of a mask as they are in `source`: set where it has them, removed where it hasn't.
    ///
    /// Setting below a value that is no map replaces it by a map; removing below one does nothing. Gives what single calls
    /// of ``set(_:at:)`` and ``remove(at:)`` would, but adds all members of a map at once: a mask may name very many.
    func patched(from source: MapValue, mask: [FieldPath]) -> MapValue {
        patched(from: source, at: mask.sorted()[...], depth: 0)
    }

    /// - Parameter paths: In order, alike in their first `depth` names, and longer.
    private func patched(from source: MapValue, at paths: ArraySlice<FieldPath>, depth: Int) -> MapValue {
        var changes: [(key: UTF8Key, value: Value?)] = []
        var rest = paths
        while let first = rest.first {
            let name = first.segments[depth]
            let group = rest.prefix { $0.segments[depth] == name }
            rest = rest.dropFirst(group.count)
            let new = source[name]
            // The shortest path comes first, and it covers the others.
            if first.segments.count == depth + 1 {
                changes.append((name, new))
            } else {
                let inner = self[name]?.members
                let patched = (inner ?? MapValue()).patched(from: new?.members ?? MapValue(), at: group, depth: depth + 1)
                // Where there was no map, one appears only if something was set in it.
                if inner != nil || !patched.isEmpty { changes.append((name, .map(patched))) }
            }
        }
        return replacing(changes)
    }

    /// The map with these members set or removed; `changes` are in order.
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
    fileprivate var members: MapValue? {
        if case .map(let members) = self { members } else { nil }
    }
}
