public import UTF8Text

/// A collection ID: the name of a collection among its siblings.
///
/// 1 to 1,500 bytes of UTF-8 without slashes or NUL, not `.` or `..`, and not of the form `__…__`. IDs compare by bytes:
/// composed and decomposed "é" are different IDs.
public struct CollectionID: Hashable, Sendable {
    /// The ID's bytes.
    public let key: UTF8Key

    /// Creates an ID from its text.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when the text breaks a rule.
    public init(_ string: String) throws(StatusError) {
        let key = UTF8Key(string)
        try Identifier.validate(key.utf8[...], as: .collection)
        self.init(unchecked: key)
    }

    /// Creates an ID from a key that was validated as part of a path.
    init(unchecked key: UTF8Key) {
        self.key = key
    }
}

extension CollectionID: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right` in byte order.
    public static func < (left: CollectionID, right: CollectionID) -> Bool {
        left.key < right.key
    }

    /// The ID's text.
    public var description: String { key.string }
}

extension CollectionID {
    /// The least valid ID that sorts after this one; `nil` if there is none.
    ///
    /// It is the exclusive upper bound of the names in and below a collection.
    package var successor: CollectionID? {
        if let longer = try? CollectionID(key.string + "\u{1}") { return longer }
        // An ID of the maximum length is not a prefix of any other, so one of the last scalars of the successor is greater.
        var scalars = Array(key.string.unicodeScalars)
        while let last = scalars.popLast() {
            var candidate = last
            while let successor = candidate.successor {
                candidate = successor
                var text = ""
                text.unicodeScalars.append(contentsOf: scalars + [candidate])
                if text.utf8.count > DocumentLimits.maximumNameBytes { break }
                // Some candidates are not valid IDs: those with a slash, or reserved ones.
                if let id = try? CollectionID(text) { return id }
            }
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// The next scalar; `nil` after the last one.
    fileprivate var successor: Unicode.Scalar? {
        self == "\u{D7FF}" ? "\u{E000}" : Unicode.Scalar(value + 1)
    }
}
