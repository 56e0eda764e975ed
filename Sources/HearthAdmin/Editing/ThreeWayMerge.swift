import DocumentModel
import StrictJSON

/// Where two people have made a document into two: field by field, those of maps by themselves.
struct ThreeWayMerge: Sendable {
    /// A field that the two have differently.
    struct Place: Sendable {
        let path: [UTF8Key]
        /// What it was before; nil when there was no such field.
        let base: Value?
        let theirs: Value?
        let yours: Value?
        /// Which of the two has changed it; nil when both have, or what was before is not known.
        let changer: Side?
    }

    /// One of the two.
    enum Side: String, Sendable {
        case yours
        case theirs
    }

    let places: [Place]
    /// Whether it is known what was before.
    let hasBase: Bool
    private let yours: MapValue

    init(base: MapValue?, theirs: MapValue, yours: MapValue) {
        hasBase = base != nil
        self.yours = yours
        var places: [Place] = []
        Self.compare(base, theirs, yours, at: [], into: &places)
        self.places = places
    }

    private static func compare(
        _ base: MapValue?,
        _ theirs: MapValue,
        _ yours: MapValue,
        at path: [UTF8Key],
        into places: inout [Place]
    ) {
        let names = MapValue((Array(theirs) + Array(yours)).map { (key: $0.key, value: Value.null) }).keys
        for name in names where theirs[name] != yours[name] {
            let (before, their, your) = (base?[name], theirs[name], yours[name])
            if case .map(let theirMap)? = their, case .map(let yourMap)? = your {
                var beforeMap: MapValue? = base == nil ? nil : [:]
                if case .map(let map)? = before { beforeMap = map }
                compare(beforeMap, theirMap, yourMap, at: path + [name], into: &places)
            } else {
                let changer: Side? = base == nil ? nil : their == before ? .yours : your == before ? .theirs : nil
                places.append(Place(path: path + [name], base: before, theirs: their, yours: your, changer: changer))
            }
        }
    }

    /// The document that the choices make.
    ///
    /// - Parameter choices: Whose value each place gets.
    func merged(_ choices: [Side]) throws(StatusError) -> MapValue {
        var fields = yours
        for (place, choice) in zip(places, choices) where choice == .theirs {
            let path = try FieldPath(segments: place.path)
            if let value = place.theirs { fields.set(value, at: path) } else { fields.remove(at: path) }
        }
        return fields
    }
}
