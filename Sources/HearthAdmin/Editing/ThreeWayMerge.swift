import DocumentModel
import UTF8Text

/// A field-by-field merge of two concurrent edits of a document. Maps are merged recursively, arrays as a whole.
struct ThreeWayMerge: Sendable {
    /// A field with different values on both sides.
    struct Difference: Sendable {
        let path: [UTF8Key]
        /// The value in the common base; `nil` for a missing field.
        let base: Value?
        let theirs: Value?
        let yours: Value?
        /// The only side that has changed the field; `nil` if both have, or if the base is unknown.
        let changedBy: Side?
    }

    enum Side: String, Sendable {
        case yours
        case theirs
    }

    let differences: [Difference]
    private let yours: MapValue

    /// - Parameter base: The common base; `nil` if it is unknown.
    init(base: MapValue?, theirs: MapValue, yours: MapValue) {
        self.yours = yours
        var differences: [Difference] = []
        Self.compare(base, theirs, yours, at: [], into: &differences)
        self.differences = differences
    }

    private static func compare(
        _ base: MapValue?,
        _ theirs: MapValue,
        _ yours: MapValue,
        at path: [UTF8Key],
        into differences: inout [Difference]
    ) {
        let names = MapValue((Array(theirs) + Array(yours)).map { (key: $0.key, value: Value.null) }).keys
        for name in names where theirs[name] != yours[name] {
            let (baseValue, theirValue, yourValue) = (base?[name], theirs[name], yours[name])
            if case .map(let theirMap)? = theirValue, case .map(let yourMap)? = yourValue {
                var baseMap: MapValue? = base == nil ? nil : [:]
                if case .map(let map)? = baseValue { baseMap = map }
                compare(baseMap, theirMap, yourMap, at: path + [name], into: &differences)
            } else {
                let changedBy: Side? =
                    base == nil ? nil : theirValue == baseValue ? .yours : yourValue == baseValue ? .theirs : nil
                differences.append(
                    Difference(
                        path: path + [name],
                        base: baseValue,
                        theirs: theirValue,
                        yours: yourValue,
                        changedBy: changedBy
                    )
                )
            }
        }
    }

    /// Returns the merged fields.
    ///
    /// - Parameter sides: The side to take for each difference.
    func merged(choosing sides: [Side]) throws(StatusError) -> MapValue {
        var fields = yours
        for (difference, side) in zip(differences, sides) where side == .theirs {
            let path = try FieldPath(segments: difference.path)
            if let value = difference.theirs { fields.set(value, at: path) } else { fields.remove(at: path) }
        }
        return fields
    }
}
