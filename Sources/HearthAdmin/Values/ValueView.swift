import DocumentModel
import UTF8Text

/// The view model of a value.
indirect enum ValueView: Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case time(TimeView)
    case text(DisplayText)
    case collapsed(CollapsedText)
    case color(ColorChip)
    case link(ExternalLink)
    case image(ThumbnailView)
    case bytes(BytesView)
    case reference(LinkView)
    case geoPoint(GeoPointView)
    case vector(VectorView)
    /// An array or map on one line.
    case container(ContainerView)
    /// A description in place of the value: of an empty string, or of an array or map whose contents are shown elsewhere.
    case summary(String)
}

/// A long string, collapsed until the user expands it.
struct CollapsedText: Sendable {
    /// The beginning.
    let prefix: DisplayText
    /// The full text.
    let full: DisplayText
    /// The length in words.
    let length: String
}

/// A link to an image, with a thumbnail of the image.
struct ThumbnailView: Sendable {
    let link: ExternalLink
    /// True beside a field of a document; otherwise, the image is as high as a line.
    let isLarge: Bool
}

/// The first bytes in hexadecimal, and the number of bytes.
struct BytesView: Sendable {
    let hexadecimal: String
    let isTruncated: Bool
    let length: String

    init(_ bytes: [UInt8], limit: Int) {
        hexadecimal = bytes.prefix(limit).map { Hexadecimal.encode([$0]) }.joined(separator: " ")
        isTruncated = bytes.count > limit
        length = localized(count: bytes.count, one: "{count} byte", other: "{count} bytes")
    }
}

/// The coordinates of a geo point.
struct GeoPointView: Sendable {
    /// The level of detail.
    enum DetailLevel: Sendable {
        /// As stored, with degrees, minutes and seconds.
        case full
        /// Rounded, with degrees, minutes and seconds.
        case listed
        /// Rounded only.
        case short
    }

    /// The stored coordinates.
    let exact: String
    let decimal: String
    /// Degrees, minutes and seconds.
    let degrees: String?

    init(_ point: GeoPoint, detail: DetailLevel) {
        exact = CoordinateFormat.decimal(point)
        decimal = detail == .full ? exact : CoordinateFormat.rounded(point)
        degrees = detail == .short ? nil : CoordinateFormat.degrees(point)
    }
}

/// The first components of a vector, and its dimension.
struct VectorView: Sendable {
    let prefix: String
    let isTruncated: Bool
    let dimensions: String

    init(_ components: [Double]) {
        let limit = 4
        prefix = components.prefix(limit).map(NumberFormat.roundTrip).joined(separator: ", ")
        isTruncated = components.count > limit
        dimensions = localized(count: components.count, one: "{count} dimension", other: "{count} dimensions")
    }
}

/// The first members of an array or map on one line, and the number of omitted members.
struct ContainerView: Sendable {
    struct Member: Sendable {
        /// The key; `nil` in an array.
        let key: DisplayText?
        let value: ValueView
    }

    let isMap: Bool
    let members: [Member]
    let omittedCount: Int
}
