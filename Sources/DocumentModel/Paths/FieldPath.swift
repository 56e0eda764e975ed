public import StrictJSON

/// The way to a field: the names of maps inside maps, down to the field's own.
///
/// As a text the names stand between dots. A name of ASCII letters, digits and `_` that does not begin with a digit stands
/// as it is; any other stands in back-quotes, with a backslash before each back-quote and backslash in it:
/// ``a.`b.c` `` is the field "b.c" of the map "a". A path does not lead into arrays.
public struct FieldPath: Hashable, Sendable {
    /// The names from the top of the document down; at least one, none of them empty.
    public let segments: [UTF8Key]

    /// Takes names as they are, without looking for dots or quotes in them.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when there is no name, an empty one, or more than 1,500 bytes in all, the
    ///   dots between the names included.
    public init(segments: [UTF8Key]) throws(StatusError) {
        guard !segments.isEmpty else {
            throw StatusError(.invalidArgument, "Expected a field path of at least one name, found none.")
        }
        if let index = segments.firstIndex(where: { $0.byteCount == 0 }) {
            throw StatusError(.invalidArgument, "The name at index \(index) of the field path is empty. Put a name there.")
        }
        var bytes = segments.count - 1
        for segment in segments { bytes += segment.byteCount }
        try Self.validateLength(bytes)
        self.segments = segments
    }

    /// For segments that were checked while they were read.
    init(unchecked segments: [UTF8Key]) {
        self.segments = segments
    }

    /// Whether this path leads to `other` or to a map around it.
    public func isPrefix(of other: FieldPath) -> Bool {
        other.segments.starts(with: segments)
    }

    /// Checks the length of a path: the bytes of its names and the dots between them.
    static func validateLength(_ bytes: Int) throws(StatusError) {
        guard bytes <= DocumentLimits.maximumFieldPathBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a field path of at most \(DocumentLimits.maximumFieldPathBytes) bytes, found \(bytes). "
                    + "Shorten the names or nest less deeply."
            )
        }
    }
}

extension FieldPath: Comparable, CustomStringConvertible {
    /// Whether `left` comes first: name by name by bytes, the shorter first on a common prefix.
    public static func < (left: FieldPath, right: FieldPath) -> Bool {
        left.segments.lexicographicallyPrecedes(right.segments)
    }

    /// The path as a text, quoted only where it must be; reading it gives the path again.
    public var description: String {
        segments.map(Self.canonicalText).joined(separator: ".")
    }

    /// A name as it stands in the text of a path.
    static func canonicalText(ofSegment segment: UTF8Key) -> String {
        if isSimple(segment.utf8) { return segment.string }
        var text: [UInt8] = [quote]
        for byte in segment.utf8 {
            if byte == quote || byte == backslash { text.append(backslash) }
            text.append(byte)
        }
        text.append(quote)
        return String(decoding: text, as: UTF8.self)
    }

    static let quote = UInt8(ascii: "`")
    static let backslash = UInt8(ascii: "\\")

    /// Whether a name may stand without quotes: `[A-Za-z_][A-Za-z0-9_]*`.
    static func isSimple(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, !isDigit(first) else { return false }
        return name.allSatisfy { byte in
            // The bit that is set here tells small ASCII letters from capital ones.
            isDigit(byte) || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
