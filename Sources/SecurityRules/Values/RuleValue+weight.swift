internal import DocumentModel
internal import UTF8Text

// The weight of a value is about its number of bytes and elements, with all that is inside. Values share storage, so a small
// number of expressions can make lists of lists whose elements nobody could count; charging their weight prevents it.

extension RuleValue {
    /// The work of reading the whole value.
    var weight: Int {
        switch self {
        case .string(let text): 1 + text.byteCount
        case .bytes(let bytes): 1 + bytes.count
        case .list(let list): list.weight
        case .set(let set): set.weight
        case .map(let map): map.weight
        case .mapDiff(let diff): diff.after.weight + diff.before.weight
        case .path(let path): path.segments.reduce(1) { $0 + 1 + ($1?.byteCount ?? 0) }
        default: 1
        }
    }
}

extension [Value] {
    /// The work of reading all values.
    var weight: Int { reduce(1) { $0 + $1.weight } }
}

extension MapValue {
    /// The work of reading all members.
    var weight: Int { reduce(1) { $0 + $1.key.byteCount + $1.value.weight } }
}

extension Value {
    fileprivate var weight: Int {
        switch self {
        case .string(let text): 1 + text.utf8.count
        case .bytes(let bytes): 1 + bytes.count
        case .array(let elements): elements.weight
        case .vector(let elements): 1 + elements.count
        case .map(let map): map.weight
        default: 1
        }
    }
}
