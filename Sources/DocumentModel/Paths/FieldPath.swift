public import UTF8Text

/// The path of a field: the names of the enclosing maps and of the field.
///
/// In text form the names are separated by dots. A name of ASCII letters, digits and `_` that does not begin with a digit is
/// unquoted. Any other name is quoted in backticks, with a backslash before each backtick and backslash:
/// ``a.`b.c` `` is the field "b.c" of the map "a". A path does not lead into arrays.
public struct FieldPath: Hashable, Sendable {
    /// The names from the root of the document; at least one, and none empty.
    public let segments: [UTF8Key]

    /// Creates a path from literal names, in which dots and backticks have no special meaning.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if there is no name or an empty one, or if the path, including the separating
    ///   dots, is longer than 1,500 bytes.
    public init(segments: [UTF8Key]) throws(StatusError) {
        guard !segments.isEmpty else {
            throw StatusError(.invalidArgument, "Expected a field path of at least one name, found none.")
        }
        if let index = segments.firstIndex(where: { $0.byteCount == 0 }) {
            throw StatusError(.invalidArgument, "The name at index \(index) of the field path is empty. Insert a name.")
        }
        var bytes = segments.count - 1
        for segment in segments { bytes += segment.byteCount }
        try Self.validateLength(bytes)
        self.segments = segments
    }

    /// Creates a path from validated segments.
    init(unchecked segments: [UTF8Key]) {
        self.segments = segments
    }

    /// Returns whether this path is equal to `other` or one of its parents.
    public func isPrefix(of other: FieldPath) -> Bool {
        other.segments.starts(with: segments)
    }

    /// Validates the length of a path: the bytes of its names and the separating dots.
    static func validateLength(_ bytes: Int) throws(StatusError) {
        guard bytes <= DocumentLimits.maximumFieldPathBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a field path of at most \(DocumentLimits.maximumFieldPathBytes) bytes, found \(bytes). "
                    + "Shorten the names or reduce the nesting."
            )
        }
    }
}

extension FieldPath: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right`: name by name in byte order; a prefix sorts first.
    public static func < (left: FieldPath, right: FieldPath) -> Bool {
        left.segments.lexicographicallyPrecedes(right.segments)
    }

    /// The canonical text of the path, with backticks only where required. Parsing it returns an equal path.
    public var description: String {
        segments.map(Self.canonicalText).joined(separator: ".")
    }

    /// Returns a name in its canonical text form.
    static func canonicalText(ofSegment segment: UTF8Key) -> String {
        if isSimple(segment.utf8) { return segment.string }
        var text: [UInt8] = [backtick]
        for byte in segment.utf8 {
            if byte == backtick || byte == backslash { text.append(backslash) }
            text.append(byte)
        }
        text.append(backtick)
        return String(decoding: text, as: UTF8.self)
    }

    static let backtick = UInt8(ascii: "`")
    static let backslash = UInt8(ascii: "\\")

    /// Returns whether a name needs no backticks: `[A-Za-z_][A-Za-z0-9_]*`.
    static func isSimple(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, !isDigit(first) else { return false }
        return name.allSatisfy { byte in
            // Bit 0x20 distinguishes lowercase from uppercase ASCII letters.
            isDigit(byte) || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
