import DocumentModel

/// A string too long to stand in full before it is asked for.
struct FoldedText: Sendable {
    /// Its first line or so.
    let beginning: DisplayText
    /// All of it.
    let whole: DisplayText
    /// How long it is, in words.
    let length: String
}

/// Bytes as their first few in hexadecimal and their number.
struct BytesView: Sendable {
    let hexadecimal: String
    let isCut: Bool
    let length: String

    init(_ bytes: [UInt8], limit: Int) {
        hexadecimal = bytes.prefix(limit).map { Hexadecimal.encode([$0]) }.joined(separator: " ")
        isCut = bytes.count > limit
        length = localized(count: bytes.count, one: "{count} byte", other: "{count} bytes")
    }
}

/// A geo point as coordinates.
struct PlaceView: Sendable {
    /// How much of it there is room for.
    enum Form: Sendable {
        /// As stored, and in degrees.
        case full
        /// Rounded, and in degrees.
        case listed
        /// Rounded.
        case short
    }

    /// As stored.
    let exact: String
    let decimal: String
    /// In degrees, minutes and seconds.
    let degrees: String?

    init(_ point: GeoPoint, in form: Form) {
        exact = Coordinates.decimal(point)
        decimal = form == .full ? exact : Coordinates.rounded(point)
        degrees = form == .short ? nil : Coordinates.degrees(point)
    }
}

/// A vector as its first components and its dimension.
struct VectorView: Sendable {
    let beginning: String
    let isCut: Bool
    let dimensions: String

    init(_ components: [Double]) {
        let limit = 4
        beginning = components.prefix(limit).map(Number.text).joined(separator: ", ")
        isCut = components.count > limit
        dimensions = localized(count: components.count, one: "{count} dimension", other: "{count} dimensions")
    }
}

/// An array or map on one line: its first members, and how many more there are.
struct GroupView: Sendable {
    struct Member: Sendable {
        /// The key in a map.
        let key: DisplayText?
        let value: ValueView
    }

    let isMap: Bool
    let members: [Member]
    let more: Int
}
