public import StrictJSON

/// The name of a collection among its siblings.
///
/// 1 to 1,500 bytes of UTF-8 without slash and NUL, not `.` or `..`, and not of the form `__…__`. Ids are their
/// bytes: composed and decomposed "é" are two ids.
public struct CollectionID: Hashable, Sendable {
    /// The id's bytes.
    public let key: UTF8Key

    /// Takes a text as an id.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it breaks a rule.
    public init(_ string: String) throws(StatusError) {
        let key = UTF8Key(string)
        try Identifier.validate(key.utf8[...], as: .collection)
        self.init(unchecked: key)
    }

    /// For a key that was checked as part of a path.
    init(unchecked key: UTF8Key) {
        self.key = key
    }
}

extension CollectionID: Comparable, CustomStringConvertible {
    /// Whether `left` comes first by its bytes.
    public static func < (left: CollectionID, right: CollectionID) -> Bool {
        left.key < right.key
    }

    /// The id itself.
    public var description: String { key.string }
}
